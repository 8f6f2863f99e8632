"""Topics of one batch that are the same, so that each is researched and paid for again."""

from collections.abc import Sequence

from chiron_workers.batches.submit import NewRun
from chiron_workers.batches.topics import comparable

WARNINGS_MAX = 10
NUMBERS_MAX = 10  # of topics that are the same
TOPIC_CHARS_MAX = 80  # of a warning


def duplicate_warnings(runs: Sequence[NewRun]) -> list[str]:
    """Which topics of a batch are the same, by their numbers from 1; those that differ in subject, role, model, reasoning or
    start are not."""
    numbers_by_key: dict[object, list[int]] = {}
    for number, run in enumerate(runs, start=1):
        options = run.subject, run.role, run.model, run.thinking, run.effort, run.ready_at, run.scope
        numbers_by_key.setdefault((comparable(run.topic), options), []).append(number)
    groups = [numbers for numbers in numbers_by_key.values() if len(numbers) > 1]
    warnings = [_sentence(numbers, runs[numbers[0] - 1].topic) for numbers in groups[:WARNINGS_MAX]]
    if len(groups) > WARNINGS_MAX:
        repetitions = sum(len(numbers) - 1 for numbers in groups[WARNINGS_MAX:])
        warnings.append(f"{repetitions:,} more topics repeat an earlier one.")
    return warnings


def _sentence(numbers: Sequence[int], topic: str) -> str:
    figures = [f"{number:,}" for number in numbers[:NUMBERS_MAX]]
    if len(numbers) > NUMBERS_MAX:
        figures.append(f"{len(numbers) - NUMBERS_MAX:,} more")
    words = " ".join(topic.split())
    title = words if len(words) <= TOPIC_CHARS_MAX else f"{words[: TOPIC_CHARS_MAX - 1]}…"
    return (
        f"Topics {', '.join(figures[:-1])} and {figures[-1]} are the same, “{title}”: "
        "each is researched and paid for. Remove the repetitions if one answer is enough."
    )
