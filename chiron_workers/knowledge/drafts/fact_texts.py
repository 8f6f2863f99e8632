"""Facts as a judge of sentences and cells sees them: statement, validity, and each quote with the page around it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from chiron_workers.knowledge.drafts.citable_facts import CitableFact, Passage
from chiron_workers.knowledge.facts.source_views import SharedPage, load_views, share_pages
from chiron_workers.quotation import quoted
from chiron_workers.runs.session import Session

PASSAGES_MAX = 3  # of a fact
QUOTE_CHARS_MAX = 2_000
PAGES_CHARS_MAX = 6_000  # of all passages of a fact


async def with_windows(session: Session, facts: Mapping[str, CitableFact]) -> dict[str, CitableFact]:
    """Facts with what a reader of the page sees around the first of their quotes, as far as there is room for it."""
    passages = [passage for fact in facts.values() for passage in fact.passages[:PASSAGES_MAX]]
    views = await load_views(session, [passage.assertion_id for passage in passages]) if passages else {}

    def seen(fact: CitableFact) -> CitableFact:
        room, shown_passages = PAGES_CHARS_MAX, []
        for passage in fact.passages:
            view = views.get(passage.assertion_id)
            if view is not None and len(view.text) <= room:
                room -= len(view.text)
                shown_passages.append(replace(passage, view=view))
            else:
                shown_passages.append(passage)
        return replace(fact, passages=tuple(shown_passages))

    return {fact_id: seen(fact) for fact_id, fact in facts.items()}


def pages_of(facts: Iterable[CitableFact]) -> tuple[list[SharedPage], dict[str, str]]:
    """The pages around the quotes of facts, each passage of a text once, and the letter of each assertion's page."""
    passages = [passage for fact in facts for passage in _shown_passages(fact) if passage.view is not None]
    pages, letters = share_pages(
        [passage.view for passage in passages], [passage.quote for passage in passages]
    )
    ids = (passage.assertion_id for passage in passages)
    return pages, dict(zip(ids, letters, strict=True))


def texts_of(fact: CitableFact, *, with_passages: bool) -> list[tuple[str, str]]:
    """The parts of a fact that a judge sees, each with its name; of what is shown around a quote its digest, or the context."""
    parts = _head(fact)
    for passage in _shown_passages(fact) if with_passages else ():
        around = passage.view.digest if passage.view else passage.context
        parts += [
            ("source", passage.source_url),
            ("context", around),
            ("quote", passage.quote[:QUOTE_CHARS_MAX]),
        ]
    return [(name, text) for name, text in parts if text.strip()]


def chars_of(fact: CitableFact, *, with_passages: bool) -> int:
    """How many characters of a question a fact takes at most."""
    pages = (passage.view.text for passage in _shown_passages(fact) if passage.view and with_passages)
    return sum(len(text) for _, text in texts_of(fact, with_passages=with_passages)) + sum(map(len, pages))


def shown(fact: CitableFact, letters: Mapping[str, str], *, with_passages: bool) -> str:
    """A fact in the words of a question; no text of it can close its marks.

    Args:
        letters: Of the pages that are shown, by assertion.
    """
    lines = [quoted(name, text) for name, text in _head(fact) if text.strip()]
    for passage in _shown_passages(fact) if with_passages else ():
        lines += _shown_passage(passage, letters.get(passage.assertion_id, ""))
    return "\n".join(lines)


def _shown_passage(passage: Passage, letter: str) -> list[str]:
    quote = [quoted("quote", passage.quote[:QUOTE_CHARS_MAX])] if passage.quote.strip() else []
    if letter:
        return [f"page: {letter}", *quote]
    parts = ("source", passage.source_url), ("context", passage.context)
    return [*(quoted(name, text) for name, text in parts if text.strip()), *quote]


def _shown_passages(fact: CitableFact) -> Sequence[Passage]:
    return fact.passages[:PASSAGES_MAX]


def _head(fact: CitableFact) -> list[tuple[str, str]]:
    start = f"from {fact.valid_from}" if fact.valid_from else ""
    end = f"until {fact.valid_until}" if fact.valid_until else ""
    return [("fact", fact.content), ("time", " ".join(filter(None, [start, end])))]
