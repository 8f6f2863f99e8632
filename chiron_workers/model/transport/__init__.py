from chiron_workers.model.transport.transport import Answer, Transport, open_transport
from chiron_workers.model.transport.urls import SEGMENT_CHARS

__all__ = ["SEGMENT_CHARS", "Answer", "Transport", "open_transport"]
