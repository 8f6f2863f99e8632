"""What a call is about: batches, runs and subjects, by their ids or by what the API said of them."""

from uuid import UUID

from chiron_api.answers.basics import Receipt
from chiron_api.answers.runs import Batch, Run, RunReceipt, RunResult

Id = UUID | str
BatchRef = Id | Batch | Receipt | RunReceipt
RunRef = Id | Run | RunResult | RunReceipt


def batch_id(batch: BatchRef) -> str:
    """The id of a batch as text."""
    if isinstance(batch, Receipt | RunReceipt):
        return str(batch.batch_id)
    return str(batch.id if isinstance(batch, Batch) else batch)


def run_id(run: RunRef) -> str:
    """The id of a run as text."""
    if isinstance(run, RunReceipt):
        return str(run.run_id)
    return str(run.id if isinstance(run, Run | RunResult) else run)


def id_of(noun: str, thing: object) -> str:
    """The id of what is named, or the name itself, as text: of an answer its `<noun>_id`, else its `id`."""
    for name in (f"{noun}_id", "id"):
        if (value := getattr(thing, name, None)) is not None:
            return str(value)
    return str(thing)


def target_of(
    batch: BatchRef | None, run: RunRef | None = None, subject: str | None = None
) -> tuple[str, str]:
    """The folder of the API and the id of what is named: one of the three. Raises TypeError for none or several."""
    ids = {
        "batches": None if batch is None else batch_id(batch),
        "runs": None if run is None else run_id(run),
        "subjects": subject,
    }
    targets = [(folder, target) for folder, target in ids.items() if target is not None]
    if len(targets) != 1:
        raise TypeError("Name one thing: a batch, or run=..., or, where it is possible, subject=...")
    return targets[0]
