"""Topics of one batch that are the same, so that each is researched and paid for again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chiron_workers.batches.submit import NewRun
from chiron_workers.batches.topics import comparable

WARNINGS_MAX = 10
NUMBERS_MAX = 10  # of topics that are the same
TOPIC_CHARS_MAX = 80  # of a warning


@dataclass(frozen=True, slots=True)
class RepeatedTopic:
    """A topic that occurs more than once in a batch; `numbers` are its places there, from 1."""

    topic: str
    numbers: tuple[int, ...]


def repeated_topics(runs: Sequence[NewRun]) -> list[RepeatedTopic]:
    """Which topics of a batch are the same; those that differ in subject, role, model, reasoning, context or start are not."""
    numbers_by_key: dict[object, list[int]] = {}
    for number, run in enumerate(runs, start=1):
        options = (
            run.subject, run.role, run.model, run.thinking, run.effort, run.ready_at, run.scope, run.context
        )  # fmt: skip
        numbers_by_key.setdefault((comparable(run.topic), options), []).append(number)
    groups = [numbers for numbers in numbers_by_key.values() if len(numbers) > 1]
    return [RepeatedTopic(runs[numbers[0] - 1].topic, tuple(numbers)) for numbers in groups]


def duplicate_warnings(repetitions: Sequence[RepeatedTopic]) -> Iterator[str]:
    """A sentence for each topic that occurs more than once, and one for those that are too many to be named."""
    for repetition in repetitions[:WARNINGS_MAX]:
        yield _sentence(repetition)
    if left_out := repetitions[WARNINGS_MAX:]:
        topics = sum(len(repetition.numbers) - 1 for repetition in left_out)
        yield f"{topics:,} more topics repeat an earlier one."


def title_of(topic: str) -> str:
    """A topic as a sentence quotes it: on one line, and not too long."""
    words = " ".join(topic.split())
    return words if len(words) <= TOPIC_CHARS_MAX else f"{words[: TOPIC_CHARS_MAX - 1]}…"


def _sentence(repetition: RepeatedTopic) -> str:
    figures = [f"{number:,}" for number in repetition.numbers[:NUMBERS_MAX]]
    if len(repetition.numbers) > NUMBERS_MAX:
        figures.append(f"{len(repetition.numbers) - NUMBERS_MAX:,} more")
    return (
        f"Topics {', '.join(figures[:-1])} and {figures[-1]} are the same, “{title_of(repetition.topic)}”: "
        "each is researched and paid for. Remove the repetitions if one answer is enough."
    )
