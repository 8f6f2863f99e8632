from chiron_workers.store.session import Caller, Session, Store

__all__ = ["Caller", "Session", "Store"]
