"""The offline researcher: an extractive program, no language model, behind the real Messages API."""

from chiron_workers.offline.conversation import conversation_key
from chiron_workers.offline.faults import Fault
from chiron_workers.offline.server import OfflineServer, Started, serve, start_in_thread

__all__ = ["Fault", "OfflineServer", "Started", "conversation_key", "serve", "start_in_thread"]
