"""The words of the offline researcher: what it is, what it found, and where."""

from collections.abc import Sequence

from chiron_workers.offline.researcher.findings import Candidate, rank
from chiron_workers.offline.researcher.research import FETCH, SEARCH, PlannedCall, Research, stored_facts
from chiron_workers.offline.researcher.words import terms

WHAT_IT_IS = (
    "This answer comes from Chiron's offline researcher, an extractive program and no language model: "
    "it understands nothing, and every statement above is copied from a source."
)
_ANSWER_SENTENCES = 4
_COVERAGE_MIN = 0.6  # share of a question that a sentence must cover to answer it
_ADDED_COVERAGE_MIN = 0.5  # share of its new terms that must stand in the sentence itself


def summary(research: Research) -> str:
    """The end of a research: each stored fact with its source, and honestly what did not work."""
    topic, count = research.topic, len(research.documents)
    if SEARCH not in research.tools and not count:
        paragraphs = ["No tool for searching sources was offered, so nothing could be looked up."]
    elif facts := stored_facts(research.leg):
        paragraphs = _first_citations(facts, research)
    elif not research.urls and not count:
        paragraphs = [f"No sources were found on: {topic}", "Nothing was stored."]
    elif research.findings:
        statements = [(finding.sentence.text, finding.document.url) for finding in research.findings]
        paragraphs = [f"Found, but not stored, on: {topic}", *_first_citations(statements, research)]
    elif count:
        paragraphs = [
            f"{_sources_were(count)} read, but no sentence there answers: {topic}. Nothing was stored."
        ]
    else:
        paragraphs = [f"Sources on {topic} were named, but none of them could be read. Nothing was stored."]
    return _report(research, paragraphs)


def answer_from_documents(research: Research) -> str | None:
    """An answer from the documents already in the conversation; None when they do not hold one."""
    if not terms(research.topic):
        facts = [fact for leg in research.conversation.legs for fact in stored_facts(leg)]
        return _report(research, ["What was stored so far:", *_citations(facts, research)]) if facts else None
    answers = [
        candidate for candidate in rank(research.documents, research.topic) if _answers(candidate, research)
    ]
    answers.sort(key=lambda answer: -round(answer.coverage, 1))
    urls = {answer.sentence.text: answer.document.url for answer in reversed(answers)}
    statements = [*reversed(urls.items())][:_ANSWER_SENTENCES]
    heading = f"From the sources already read, on: {research.topic}"
    return _report(research, [heading, *_citations(statements, research)]) if statements else None


def _answers(candidate: Candidate, research: Research) -> bool:
    """Whether a sentence covers the question, above all what the question adds to the ones before it."""
    earlier_legs = research.conversation.legs[:-1]
    earlier_terms = {term for leg in earlier_legs for question in leg.questions for term in terms(question)}
    new_terms = {*terms(research.topic)} - earlier_terms
    shared_terms = new_terms & candidate.sentence.terms
    return candidate.coverage >= _COVERAGE_MIN and len(shared_terms) >= _ADDED_COVERAGE_MIN * len(new_terms)


def _first_citations(statements: Sequence[tuple[str, str]], research: Research) -> list[str]:
    """As `_citations`, of the best few: the facts of a report tell the rest."""
    more = len(statements) - _ANSWER_SENTENCES
    remainder = (
        [f"{more} more {'statement was' if more == 1 else 'statements were'} found."] if more > 0 else []
    )
    return [*_citations(statements[:_ANSWER_SENTENCES], research), *remainder]


def _citations(statements: Sequence[tuple[str, str]], research: Research) -> list[str]:
    """The statements, each a text and the URL of its source, with numbers, and the sources under those numbers."""
    urls = list(dict.fromkeys(url for _, url in statements))
    titles = {document.url: document.title for document in research.documents}
    lines = [f"- {text} [{urls.index(url) + 1}]" for text, url in statements]
    sources = [" ".join(filter(None, dict.fromkeys([titles.get(url), url]))) for url in urls]
    references = [f"[{number}] {source}" for number, source in enumerate(sources, start=1)]
    return ["\n".join(lines), "Sources:\n" + "\n".join(references)]


def _report(research: Research, paragraphs: list[str]) -> str:
    """The paragraphs, then where documents contradict each other, which calls failed, and what this answer is.

    Reports, notices and the page begin with the first sentence of an answer.
    """
    disagreements = [
        f"- {finding.sentence.text} ({finding.document.url}) against: {version.sentence.text} ({version.document.url})"
        for finding in (research.findings if research.leg.calls else [])
        for version in finding.contradictions
    ]
    if disagreements:
        paragraphs.append("\n".join(["Sources disagree:", *disagreements]))
    if failures := [f"{count} of the calls to {tool} failed" for tool, count in research.failures().items()]:
        paragraphs.append(f"What did not work: {'; '.join(failures)}.")
    return "\n\n".join([*paragraphs, WHAT_IT_IS])


def progress(research: Research, calls: Sequence[PlannedCall]) -> str:
    """One line before tool calls: what is being done."""
    tool = calls[0][0]
    if tool == SEARCH:
        return f"Searching for sources on: {research.topic}"
    if tool == FETCH:
        return f"{_sources_were(len(research.urls))} named; reading {len(calls)} of them."
    statements = "1 statement that answers" if len(calls) == 1 else f"{len(calls)} statements that answer"
    return f"{_sources_were(len(research.documents))} read; storing {statements} the topic."


def _sources_were(number: int) -> str:
    return "1 source was" if number == 1 else f"{number} sources were"
