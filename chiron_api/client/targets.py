"""What a call is about, by its id or by what the API said of it."""

from uuid import UUID

Id = UUID | str
FOLDERS = {"batch": "batches", "run": "runs", "subject": "subjects"}


def id_of(noun: str, thing: object) -> str:
    """The id of what is named, or the name itself, as text: of an answer its `<noun>_id`, else its `id`."""
    for name in (f"{noun}_id", "id"):
        if (value := getattr(thing, name, None)) is not None:
            return str(value)
    return str(thing)


def target_of(**things: object) -> tuple[str, str]:
    """The folder of the API and the id of the batch, the run or the subject. Raises TypeError for none or several."""
    targets = [(FOLDERS[noun], id_of(noun, thing)) for noun, thing in things.items() if thing is not None]
    if len(targets) != 1:
        raise TypeError("Name one thing: a batch, or run=..., or, where it is possible, subject=...")
    return targets[0]
