from chiron_workers.model.client import Model, Request

__all__ = ["Model", "Request"]
