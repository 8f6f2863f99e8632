from chiron_workers.model.client import Model
from chiron_workers.model.request import Request

__all__ = ["Model", "Request"]
