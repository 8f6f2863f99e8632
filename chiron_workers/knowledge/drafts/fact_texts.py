"""Facts as a judge of sentences and cells sees them: statement, validity, and each quote with what stands around it."""

from collections.abc import Mapping
from dataclasses import replace

from chiron_workers.knowledge.drafts.citable_facts import CitableFact
from chiron_workers.quotation import quoted
from chiron_workers.runs.session import Session

PASSAGES_MAX = 3  # of a fact
QUOTE_CHARS_MAX = 2_000
WINDOW_CHARS_MAX = 6_000  # of all passages of a fact


async def with_windows(session: Session, facts: Mapping[str, CitableFact]) -> dict[str, CitableFact]:
    """Facts with what a reader of the page sees around their quotes. The one place that decides which text that is."""
    passages = [passage for fact in facts.values() for passage in fact.passages[:PASSAGES_MAX]]
    windows = {passage.assertion_id: passage.context for passage in passages}
    return {
        fact_id: replace(
            fact,
            passages=tuple(
                replace(passage, window=windows.get(passage.assertion_id, "")) for passage in fact.passages
            ),
        )
        for fact_id, fact in facts.items()
    }


def texts_of(fact: CitableFact, *, with_passages: bool) -> list[tuple[str, str]]:
    """The parts of a fact that a judge sees, each with the name of its marks.

    A window for which there is no more room gives way to the passage's context.
    """
    start = f"from {fact.valid_from}" if fact.valid_from else ""
    end = f"until {fact.valid_until}" if fact.valid_until else ""
    parts = [("fact", fact.content), ("time", " ".join(filter(None, [start, end])))]
    room = WINDOW_CHARS_MAX
    for passage in fact.passages[:PASSAGES_MAX] if with_passages else ():
        window = passage.window if len(passage.window) <= room else passage.context
        room -= len(window)
        parts += [("source", passage.source_url), ("context", window)]
        parts.append(("quote", passage.quote[:QUOTE_CHARS_MAX]))
    return [(name, text) for name, text in parts if text.strip()]


def shown(fact: CitableFact, *, with_passages: bool) -> str:
    """A fact in the words of a question; no text of it can close its marks."""
    return "\n".join(quoted(name, text) for name, text in texts_of(fact, with_passages=with_passages))
