"""Whether the facts of a crate's report resolve, and their quotes stand in its texts."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from chiron_api.crate.archive import Archive, read
from chiron_api.crate.documents import (
    Annotation,
    AnnotationCollection,
    Citation,
    Finding,
    Report,
    Source,
    Target,
)
from chiron_api.crate.layout import TEXT_BYTES_MAX, snapshot_name, text_address, urn
from chiron_api.crate.statements import Evidence, context_fault, evidence_of
from chiron_api.text import count, one_line
from chiron_workers.evidence.quotes.marks import spanned_mark
from chiron_workers.evidence.quotes.quotes import QUOTE_CHARS_MAX, locate, unfit_reason
from chiron_workers.evidence.quotes.sentences import whole_sentences
from chiron_workers.evidence.quotes.windows import EDGE_CHARS
from chiron_workers.states import Decider, Verdict


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote of a finding, which is said to stand in the text of that hash."""

    number: int
    text_hash: str
    target: Target
    evidence: Evidence


def check_report(report: Report) -> Iterator[str]:
    """What in the report leads nowhere: numbers that nothing has, and sources that say otherwise who cites them."""
    numbers = [finding.number for finding in report.findings]
    if sorted(numbers) != list(range(1, len(numbers) + 1)):
        yield "The findings of the report are not numbered one after the other."
    for name, ids in (
        ("fact", [finding.fact_id for finding in report.findings]),
        (
            "assertion",
            [citation.assertion_id for finding in report.findings for citation in finding.citations],
        ),
        ("source", [str(source.number) for source in report.sources]),
    ):
        if len(set(ids)) < len(ids):
            yield f"The report has the same {name} twice."
    for finding in report.findings:
        if finding.citations and all(citation.wording for citation in finding.citations):
            yield f"Finding {finding.number} is a statement that none of its sources is cited for."
    yield from _check_answers(report)
    ends = {relative.number for finding in report.findings for relative in finding.relatives}
    ends |= {end for pair in report.contradictions for end in (pair.number, pair.other)}
    for number in sorted(ends.difference(numbers)):
        yield f"The report speaks of a finding {number} that it does not have."
    citing_numbers: dict[int, set[int]] = defaultdict(set)
    for finding in report.findings:
        for citation in finding.citations:
            citing_numbers[citation.source].add(finding.number)
    sources = {source.number: source for source in report.sources}
    for number in sorted(citing_numbers.keys() - sources.keys()):
        yield f"The report cites a source {number} that it does not have."
    for source in report.sources:
        if set(source.cited_by) != citing_numbers[source.number]:
            yield f"Source {source.number} is not cited by the findings that it says."


def _check_answers(report: Report) -> Iterator[str]:
    """Sentences of answers that rest on facts or sources that the report does not have."""
    numbers = {finding.fact_id: finding.number for finding in report.findings}
    source_numbers = {source.number for source in report.sources}
    for sentence in report.sentences:
        if any(
            fact.number is not None and fact.number != numbers.get(fact.fact_id) for fact in sentence.facts
        ):
            yield "An answer rests on a finding that the report does not have under that number."
        if not source_numbers.issuperset(sentence.sources):
            yield "An answer names a source that the report does not have."
        if sentence.verdict is Verdict.SUPPORTED and sentence.verdict_by in ("", Decider.RULES):
            yield "An answer calls a sentence supported that no model has judged."
        if sentence.verdict is Verdict.UNCHECKED and not sentence.mark:
            yield "An answer leaves out that no model has judged a sentence."


def check_annotations(report: Report, collection: AnnotationCollection) -> Iterator[str]:
    """Where the annotations and the report disagree on a fact or its quote."""
    annotations = {annotation.id: annotation for annotation in collection.first.items}
    if len(annotations) != len(collection.first.items) or len(annotations) != collection.total:
        yield "The number of annotations differs from the number that the collection names."
    sources = {source.number: source for source in report.sources}
    for finding in report.findings:
        for citation in finding.citations:
            annotation = annotations.pop(urn(citation.assertion_id), None)
            source = sources.get(citation.source)
            if not _agree(finding, citation, source, annotation):
                yield f"Finding {finding.number} differs between the annotations and the report."
    if annotations:
        yield f"{count(len(annotations), 'annotation belongs', 'annotations belong')} to no finding of the report."


def _agree(
    finding: Finding, citation: Citation, source: Source | None, annotation: Annotation | None
) -> bool:
    target = citation.target
    if not citation.is_verified or target is None or annotation is None:
        return not citation.is_verified and target is None and annotation is None
    text_hash = (source.snapshot_hash if source else None) or ""
    return (
        annotation.body.id == urn(finding.fact_id)
        and annotation.body.value == (citation.wording or finding.content)
        and target.selector == annotation.target.selector
        and target.selector[0].exact == citation.quote
        and target.source == annotation.target.source == (source.url if source else None)
        and target.state.cached == text_address(text_hash)
        and annotation.target.state.cached == snapshot_name(text_hash)
    )


def quotes_of(report: Report) -> dict[str, list[Quote]]:
    """The quotes that are called verified, by the hash of the text that they are said to stand in."""
    quotes: dict[str, list[Quote]] = defaultdict(list)
    for finding in report.findings:
        for citation in finding.citations:
            if citation.is_verified and citation.target:
                text_hash = citation.target.state.cached.removeprefix(text_address(""))
                evidence = evidence_of(finding, citation)
                quotes[text_hash].append(Quote(finding.number, text_hash, citation.target, evidence))
    return quotes


def check_quotes(archive: Archive, quotes: dict[str, list[Quote]]) -> Iterator[str]:
    """Quotes that do not stand where they are said to, or are none that the quote gate would take. One text at a time."""
    for text_hash, quotes_of_text in quotes.items():
        name = snapshot_name(text_hash)
        if name not in archive.sizes:
            continue
        try:
            text = read(archive, name, bytes_max=TEXT_BYTES_MAX).decode()
        except UnicodeDecodeError:
            yield f"{one_line(name)} is not UTF-8 text."
            continue
        for quote in quotes_of_text:
            if fault := _fault(quote, text) or context_fault(quote.evidence, text, quote.target):
                yield f"Finding {quote.number}: {fault}"


def _fault(quote: Quote, text: str) -> str:
    words, position = quote.target.selector
    start, end = position.start, position.end
    if not start < end <= len(text) or text[start:end] != words.exact:
        return f"its quote is not at {start:,} to {end:,} of its source: “{one_line(words.exact)}”."
    before = start - len(words.prefix)
    if before < 0 or not text.startswith(words.prefix, before) or not text.startswith(words.suffix, end):
        return "the words before or after its quote differ from its source."
    if not is_of_the_gate(words.exact, text, start, end):
        return f"the quote gate would refuse its quote: “{one_line(words.exact)}”."
    return ""


def is_of_the_gate(exact: str, text: str, start: int, end: int) -> bool:
    """Whether the quote gate takes the words, or would have extended a quote within them to where they begin and end."""
    # The gate extends a quote over cells that are nothing but a mark.
    if unfit_reason(exact) or spanned_mark(text, (start, start), (start, end)):
        return False
    if locate(exact, text[max(0, start - EDGE_CHARS) : end + EDGE_CHARS]):
        return True
    begin, finish = whole_sentences(text, start, end, chars_max=QUOTE_CHARS_MAX)
    is_begun = begin == start or not text[max(0, start - 1) : start].strip()
    return is_begun and (finish == end or not text[end : end + 1].strip())
