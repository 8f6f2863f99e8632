"""What a report begins with: the written answer, sentence by sentence with its facts, and what the runs said themselves."""

from dataclasses import dataclass
from datetime import datetime

from chiron_workers.states import Verdict


@dataclass(frozen=True, slots=True)
class Reference:
    """A fact that a sentence rests on: `number` is its finding's, None where the report has none.

    `mark` says what became of the fact since the sentence was written; empty where it stands as it did.
    """

    fact_id: str
    number: int | None
    mark: str = ""


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """A sentence that its facts supported when it was written, as the model `verdict_by` found, or an unchecked one.

    `sources` are numbers; `is_disputed` if its facts contradict each other. `mark` says in plain words that it is unchecked.
    """

    text: str
    facts: tuple[Reference, ...]
    sources: tuple[int, ...]
    is_disputed: bool
    verdict_by: str
    verdict: Verdict = Verdict.UNCHECKED
    mark: str = ""


@dataclass(frozen=True, slots=True)
class WrittenSection:
    """A section of the answer; the first is the summary. `title_mark` says that no model has judged its title."""

    title: str
    sentences: tuple[WrittenSentence, ...]
    title_mark: str = ""


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """What a run of the writer handed in. `not_known` is made of rows, not of words of a model."""

    run_id: str
    model: str
    written_at: datetime
    sections: tuple[WrittenSection, ...]
    not_known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SaidSentence:
    """A sentence of a run's own answer; `sources` are the numbers of those of this report whose address or fact it names.

    `addresses` are the others that it names: no fact of this report rests on them.
    """

    text: str
    sources: tuple[int, ...]
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """What the agent of a run answered, in its own words; they were not checked.

    `sentences_left_out` counts the sentences beyond the most that are shown.
    """

    run_id: str
    topic: str
    sentences: tuple[SaidSentence, ...]
    sentences_left_out: int
