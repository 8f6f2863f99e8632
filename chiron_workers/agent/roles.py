from importlib.resources import files
from string import Template

from chiron_workers.errors import UsageError
from chiron_workers.settings import Settings
from chiron_workers.store.batches import roles
from chiron_workers.store.runs import Run

PROMPTS = files("chiron_workers.agent") / "prompts"


def system_prompt(run: Run, settings: Settings) -> str:
    """The system prompt of a run's role, with the run's subject and the threshold filled in.

    Raises:
        UsageError: There is no such role.
    """
    if run.role not in roles():
        raise UsageError(f"There is no role {run.role!r}; there are {', '.join(roles())}.")
    text = (PROMPTS / f"{run.role}.md").read_text()
    return Template(text).substitute(
        subject=run.subject, subject_id=run.subject_id, threshold=f"{settings.confidence_threshold:g}"
    )


def first_question(run: Run) -> str:
    """What a run is asked at the start."""
    return f"Research topic: {run.topic}"
