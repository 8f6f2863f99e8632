"""The words of the offline researcher: what it is, what it found, and where."""

from collections.abc import Sequence

from chiron_workers.offline.researcher.ranking import RankedSentence, rank
from chiron_workers.offline.researcher.research import FETCH, SEARCH, PlannedCall, Research, stored_facts
from chiron_workers.offline.researcher.words import terms

WHAT_IT_IS = (
    "This answer comes from Chiron's offline researcher, an extractive program and no language model: "
    "it understands nothing, and every statement below is copied from a source."
)
_ANSWER_SENTENCES = 4
_COVERAGE_MIN = 0.6  # share of a question that a sentence must cover to answer it
_ADDED_COVERAGE_MIN = 0.5  # share of its new terms that must stand in the sentence itself
_Statement = tuple[str, str]  # its text and the URL of its source


def summary(research: Research) -> str:
    """The end of a research: each stored fact with its source, and honestly what did not work."""
    topic = research.topic
    facts = stored_facts(research.leg)
    statements = [(finding.sentence.text, finding.document.url) for finding in research.findings]
    if SEARCH not in research.tools and not research.documents:
        paragraphs = ["No tool for searching sources was offered, so nothing could be looked up."]
    elif facts:
        paragraphs = [f"Stored on: {topic}", *_citations(facts, research)]
    elif not research.sources and not research.documents:
        paragraphs = [f"No sources were found on: {topic}", "Nothing was stored."]
    elif statements:
        paragraphs = [f"Found, but not stored, on: {topic}", *_citations(statements, research)]
    elif research.documents:
        count = len(research.documents)
        paragraphs = [
            f"{count} sources were read, but no sentence in them answers: {topic}. Nothing was stored."
        ]
    else:
        paragraphs = [f"Sources on {topic} were named, but none of them could be read. Nothing was stored."]
    return _report(research, paragraphs)


def answer_from_documents(research: Research) -> str | None:
    """An answer from the documents already in the conversation; None when they do not hold one."""
    if not terms(research.topic):
        facts = [fact for leg in research.conversation.legs for fact in stored_facts(leg)]
        return _report(research, ["What was stored so far:", *_citations(facts, research)]) if facts else None
    answers = [ranked for ranked in rank(research.documents, research.topic) if _answers(ranked, research)]
    by_text: dict[str, RankedSentence] = {}
    for answer in sorted(answers, key=lambda answer: -round(answer.coverage, 1)):
        by_text.setdefault(answer.sentence.text, answer)
    statements = [(text, answer.document.url) for text, answer in by_text.items()][:_ANSWER_SENTENCES]
    if not statements:
        return None
    heading = f"From the sources already read, on: {research.topic}"
    return _report(research, [heading, *_citations(statements, research)])


def _answers(candidate: RankedSentence, research: Research) -> bool:
    """Whether a sentence covers the question, above all what the question adds to the ones before it."""
    earlier_legs = research.conversation.legs[:-1]
    earlier_terms = {term for leg in earlier_legs for question in leg.questions for term in terms(question)}
    new_terms = [term for term in research.terms if term not in earlier_terms]
    shared_terms = [term for term in new_terms if term in candidate.sentence.terms]
    is_covered = candidate.coverage >= _COVERAGE_MIN
    return is_covered and len(shared_terms) >= _ADDED_COVERAGE_MIN * len(new_terms)


def _citations(statements: Sequence[_Statement], research: Research) -> list[str]:
    """The statements with numbers, and the sources under those numbers."""
    urls = list(dict.fromkeys(url for _, url in statements))
    titles = {document.url: document.title for document in research.documents}
    lines = [f"- {text} [{urls.index(url) + 1}]" for text, url in statements]
    sources = [" ".join(filter(None, dict.fromkeys([titles.get(url), url]))) for url in urls]
    references = [f"[{number}] {source}" for number, source in enumerate(sources, start=1)]
    return ["\n".join(lines), "Sources:\n" + "\n".join(references)]


def _report(research: Research, paragraphs: list[str]) -> str:
    failures = [f"{count} of the calls to {tool} failed" for tool, count in research.failures().items()]
    problems = [f"What did not work: {'; '.join(failures)}."] if failures else []
    return "\n\n".join([WHAT_IT_IS, *paragraphs, *_disagreements(research), *problems])


def _disagreements(research: Research) -> list[str]:
    """Where documents contradict each other, both sides."""
    lines = [
        f"- {finding.sentence.text} ({finding.document.url}) against: {version.sentence.text} ({version.document.url})"
        for finding in (research.findings if research.leg.calls else [])
        for version in finding.contradictions
    ]
    return ["Sources disagree:\n" + "\n".join(lines)] if lines else []


def progress(research: Research, calls: Sequence[PlannedCall]) -> str:
    """One line before tool calls: what is being done."""
    tool = calls[0][0]
    if tool == SEARCH:
        return f"Searching for sources on: {research.topic}"
    if tool == FETCH:
        return f"{len(research.sources)} sources were named; reading {len(calls)} of them."
    return (
        f"{len(research.documents)} sources were read; storing {len(calls)} statements that answer the topic."
    )
