"""The offline researcher: an extractive program, no language model, behind the real Messages API."""

from chiron_workers.offline.api.faults import Fault
from chiron_workers.offline.api.serve import ServerThread, serve, start_in_thread
from chiron_workers.offline.api.server import OfflineServer
from chiron_workers.offline.researcher.conversation import conversation_key

__all__ = ["Fault", "OfflineServer", "ServerThread", "conversation_key", "serve", "start_in_thread"]
