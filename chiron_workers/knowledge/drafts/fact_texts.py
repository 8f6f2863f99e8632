"""Facts as a judge of sentences and cells sees them: statement, validity, and each quote where it stands."""

from chiron_workers.knowledge.drafts.citable_facts import CitableFact, Passage
from chiron_workers.quotation import quoted

PASSAGES_MAX = 3  # of a fact
QUOTE_CHARS_MAX = 2_000
WINDOW_CHARS_MAX = 6_000  # of all passages of a fact


def window_of(passage: Passage) -> str:
    """What a reader of its page sees around a quote. The one place that decides which text that is."""
    return passage.context


def texts_of(fact: CitableFact, *, with_passages: bool) -> list[tuple[str, str]]:
    """The parts of a fact that a judge sees, each with the name of its marks."""
    span = " to ".join(filter(None, [fact.valid_from and f"from {fact.valid_from}", fact.valid_until]))
    parts = [("fact", fact.content), ("time", span)]
    room = WINDOW_CHARS_MAX
    for passage in fact.passages[:PASSAGES_MAX] if with_passages else ():
        window = window_of(passage)[:room]
        room -= len(window)
        parts += [
            ("source", passage.source_url),
            ("context", window),
            ("quote", passage.quote[:QUOTE_CHARS_MAX]),
        ]
    return [(name, text) for name, text in parts if text.strip()]


def shown(fact: CitableFact, *, with_passages: bool) -> str:
    """A fact in the words of a question; no text of it can close its marks."""
    return "\n".join(quoted(name, text) for name, text in texts_of(fact, with_passages=with_passages))
