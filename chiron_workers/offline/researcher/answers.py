"""The words of the offline researcher: what it is, what it found, and where."""

from collections.abc import Sequence

from chiron_workers.offline.researcher.inquiry import Inquiry
from chiron_workers.offline.researcher.material import Document
from chiron_workers.offline.researcher.ranking import Ranked, rank
from chiron_workers.offline.researcher.words import terms

WHAT_IT_IS = (
    "This answer comes from Chiron's offline researcher, an extractive program and no language model: "
    "it understands nothing, and every statement below is copied from a source."
)
_ANSWER_SENTENCES = 4
_COVERED = 0.6  # share of a question that a sentence must cover to answer it
_ADDED_COVERED = 0.5  # share of its new terms that must stand in the sentence itself


def summary(inquiry: Inquiry) -> str:
    """The end of an inquiry: each stored fact with its source, and honestly what did not work."""
    if inquiry.belt.search is None and not inquiry.documents:
        return _report(inquiry, ["No tool for searching sources was offered, so nothing could be looked up."])
    stored = inquiry.stored_in(inquiry.leg)
    if stored:
        return _report(inquiry, [f"Stored on: {inquiry.asked}", *_cited(stored, inquiry)])
    if not inquiry.sources and not inquiry.documents:
        return _report(inquiry, [f"No sources were found on: {inquiry.asked}", "Nothing was stored."])
    found = [(finding.sentence.text, finding.document.url) for finding in inquiry.findings]
    if not found:
        return _report(inquiry, [_nothing_said(inquiry)])
    return _report(inquiry, [f"Found, but not stored, on: {inquiry.asked}", *_cited(found, inquiry)])


def from_what_was_found(inquiry: Inquiry) -> str | None:
    """An answer from the documents already in the conversation; None when they do not hold one."""
    if not terms(inquiry.asked):
        told = [fact for leg in inquiry.conversation.legs for fact in inquiry.stored_in(leg)]
        return _report(inquiry, ["What was stored so far:", *_cited(told, inquiry)]) if told else None
    ranked = [one for one in rank(inquiry.documents, inquiry.asked) if _answers(one, inquiry)]
    chosen = _distinct(sorted(ranked, key=lambda one: -round(one.coverage, 1)))
    if not chosen:
        return None
    quoted = [(one.sentence.text, one.document.url) for one in chosen]
    return _report(inquiry, [f"From the sources already read, on: {inquiry.asked}", *_cited(quoted, inquiry)])


def _answers(ranked: Ranked, inquiry: Inquiry) -> bool:
    """Whether a sentence covers the question, above all what the question adds to the ones before it."""
    before = {
        term for leg in inquiry.conversation.legs[:-1] for asked in leg.questions for term in terms(asked)
    }
    added = [term for term in inquiry.terms if term not in before]
    covered = sum(term in ranked.sentence.terms for term in added)
    return ranked.coverage >= _COVERED and covered >= _ADDED_COVERED * len(added)


def _distinct(ranked: Sequence[Ranked]) -> list[Ranked]:
    chosen: dict[str, Ranked] = {}
    for one in ranked:
        if len(chosen) == _ANSWER_SENTENCES:
            break
        chosen.setdefault(one.sentence.text, one)
    return list(chosen.values())


def _nothing_said(inquiry: Inquiry) -> str:
    if not inquiry.documents:
        return f"Sources on {inquiry.asked} were named, but none of them could be read. Nothing was stored."
    return f"{len(inquiry.documents)} sources were read, but no sentence in them answers: {inquiry.asked}. Nothing was stored."


def _cited(statements: Sequence[tuple[str, str]], inquiry: Inquiry) -> list[str]:
    """The statements with numbers, and the sources under those numbers."""
    urls = list(dict.fromkeys(url for _, url in statements))
    titles = {document.url: document.title for document in inquiry.documents}
    lines = [f"- {text} [{urls.index(url) + 1}]" for text, url in statements]
    listed = [f"[{number}] {_named(titles.get(url, ''), url)}" for number, url in enumerate(urls, start=1)]
    return ["\n".join(lines), "Sources:\n" + "\n".join(listed)]


def _named(title: str, url: str) -> str:
    return f"{title} {url}" if title and title != url else url


def _report(inquiry: Inquiry, paragraphs: list[str]) -> str:
    failures = [f"{count} of the calls to {name} failed" for name, count in inquiry.failures().items()]
    problems = [f"What did not work: {'; '.join(failures)}."] if failures else []
    return "\n\n".join([WHAT_IT_IS, *paragraphs, *_disputed(inquiry), *problems])


def _disputed(inquiry: Inquiry) -> list[str]:
    """Where documents contradict each other, both sides."""
    lines = [
        f"- {finding.sentence.text} ({finding.document.url}) against: {other.sentence.text} ({other.document.url})"
        for finding in (inquiry.findings if inquiry.leg.calls else [])
        for other in finding.opposing
    ]
    return ["Sources disagree:\n" + "\n".join(lines)] if lines else []


def progress(inquiry: Inquiry, calls: int, step: str, documents: Sequence[Document]) -> str:
    """One line before tool calls: what is being done."""
    match step:
        case "search":
            return f"Searching for sources on: {inquiry.asked}"
        case "fetch":
            return f"{len(inquiry.sources)} sources were named; reading {calls} of them."
        case _:
            return f"{len(documents)} sources were read; storing {calls} statements that answer the topic."
