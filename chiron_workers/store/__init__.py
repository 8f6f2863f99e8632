from chiron_workers.store.knowledge import Store
from chiron_workers.store.session import Caller, Session

__all__ = ["Caller", "Session", "Store"]
