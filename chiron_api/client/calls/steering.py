"""Deletion: of a batch, or of a single run by `run=`."""

from chiron_api.client.call import Call
from chiron_api.client.targets import BatchRef, RunRef, target_of


def delete(
    batch: BatchRef | None = None, *, run: RunRef | None = None, with_facts: bool = False
) -> Call[None]:
    """Delete what is finished for good, with its journal and events; and, if that is said, the facts it found first."""
    folder, target = target_of(batch, run)
    return Call("DELETE", f"/v1/{folder}/{{id}}", None, target=target, query={"with_facts": with_facts})
