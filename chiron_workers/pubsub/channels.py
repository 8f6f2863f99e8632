"""The channels of Redis that events are published on."""

from uuid import UUID


def batch_channel(batch_id: UUID) -> str:
    """The channel of the events of all runs of a batch."""
    return f"chiron:batch:{batch_id}"


def run_channel(run_id: UUID) -> str:
    """The channel of the events of one run."""
    return f"chiron:run:{run_id}"
