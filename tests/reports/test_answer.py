"""What a report begins with: the written answer with its facts and what became of them, and what the runs said."""

import io
import json
import re

import pytest
from docx import Document
from markdown_it import MarkdownIt
from support.report_writing import AGE, MEAN, OPEN, OPPOSITE, Batch, researched_batch, written_report
from support.research_rows import Shelf

from chiron_api.reports.formats import FORMATS
from chiron_api.reports.gathering import gather
from chiron_api.reports.report import Report
from chiron_workers.db.connect import Pool
from chiron_workers.evidence.citations import said_sentences

BOTH = f"Sources disagree: {MEAN[:-1]} — against: {OPPOSITE}"


@pytest.fixture
def batch(shelf: Shelf) -> Batch:
    return researched_batch(shelf)


@pytest.fixture
def answered(shelf: Shelf, batch: Batch) -> Batch:
    written_report(
        shelf, batch,
        ("Summary", [("Old ice is <b>thick</b>.", [batch.age])]),
        ("Methods", [(OPEN, [batch.freeboard]), (BOTH, [batch.mean, batch.opposite])]),
    )  # fmt: skip
    return batch


def rendered(report: Report, format: str) -> str:
    render = FORMATS[format].render
    assert render
    return "".join(map(str, render(report)))


async def test_the_answer_comes_first_and_each_sentence_names_its_findings_and_sources(
    pool: Pool, answered: Batch
) -> None:
    report = await gather(pool, answered.id)
    assert report.answer is not None
    numbers = {finding.fact_id: finding.number for finding in report.findings}
    [summary, methods] = report.answer.sections
    [sentence] = summary.sentences
    assert [fact.number for fact in sentence.facts] == [numbers[str(answered.age)]]
    assert len(sentence.sources) == 1
    assert methods.sentences[1].is_disputed
    text = rendered(report, "md")
    assert text.index("## Answer") < text.index("## Questions") < text.index("- Findings: ")
    html = MarkdownIt("commonmark").render(text)
    number, source = numbers[str(answered.age)], sentence.sources[0]
    assert re.search(
        rf'Old ice is &lt;b&gt;thick&lt;/b&gt;\. \(finding {number}\) <a href="https://example.org/thickness/age">\[{source}\]',
        html,
    )
    assert "sources contradict each other" in text


async def test_a_fact_that_has_expired_since_is_marked_where_the_sentence_says_no_time(
    pool: Pool, shelf: Shelf, answered: Batch
) -> None:
    shelf.connection.execute("update facts set valid_until = '2019' where id = %s", (answered.age,))
    report = await gather(pool, answered.id)
    assert "(a fact of it is so until 2019 only)" in rendered(report, "md")
    shelf.connection.execute(
        "update draft_sentences set text = 'Until 2019 old ice was thick.' where fact_ids = %s",
        ([answered.age],),
    )
    assert "so until 2019 only" not in rendered(await gather(pool, answered.id), "md")


@pytest.mark.parametrize("judge", ["", "rules"])
async def test_what_no_model_has_judged_is_marked_in_every_format(
    pool: Pool, shelf: Shelf, answered: Batch, judge: str
) -> None:
    assert "meaning unchecked" not in rendered(await gather(pool, answered.id), "md")
    shelf.connection.execute("update draft_sentences set verdict_by = %s where text = %s", (judge, OPEN))
    shelf.connection.execute("update draft_sections set title_verdict_by = %s", (judge,))
    report = await gather(pool, answered.id)
    assert report.answer is not None
    [first, second] = report.answer.sections
    assert (first.title_mark, second.title_mark) == ("", "heading unchecked"), "the summary's title is ours"
    assert [(sentence.verdict, sentence.mark) for sentence in second.sentences] == [
        ("unchecked", "in its fact's words, meaning unchecked"),
        ("supported", ""),
    ]
    render = FORMATS["docx"].render
    assert render
    document = Document(io.BytesIO(b"".join(part for part in render(report) if isinstance(part, bytes))))
    texts = [rendered(report, name) for name in ("md", "html", "json")]
    for text in [*texts, "\n".join(part.text for part in document.paragraphs)]:
        assert "meaning unchecked" in text
        assert "heading unchecked" in text
    assert "No model was asked about 1 of 3 sentences" in texts[0]


async def test_html_and_word_link_sentences_with_findings_and_sources(pool: Pool, answered: Batch) -> None:
    report = await gather(pool, answered.id)
    numbers = {finding.fact_id: finding.number for finding in report.findings}
    number = numbers[str(answered.age)]
    page = rendered(report, "html")
    assert f'(finding <a href="#f{number}"' in page
    assert "Old ice is &lt;b&gt;thick&lt;/b&gt;." in page
    render = FORMATS["docx"].render
    assert render
    document = Document(io.BytesIO(b"".join(part for part in render(report) if isinstance(part, bytes))))
    headings = [part.text for part in document.paragraphs if part.style and part.style.name == "Heading 1"]
    assert headings[:2] == ["Answer", "Questions"]
    [paragraph] = [part for part in document.paragraphs if part.text.startswith("Old ice")]
    anchors = re.findall(r'w:anchor="(\w+)"', paragraph._p.xml)
    assert f"f{number}" in anchors
    assert any(anchor.startswith("s") for anchor in anchors)


async def test_json_maps_each_sentence_to_its_facts(pool: Pool, answered: Batch) -> None:
    document = json.loads(rendered(await gather(pool, answered.id), "json"))
    facts = {
        sentence["text"]: [fact["fact_id"] for fact in sentence["facts"]]
        for section in document["answer"]["sections"]
        for sentence in section["sentences"]
    }
    assert facts[OPEN] == [str(answered.freeboard)]
    assert facts[BOTH] == [str(answered.mean), str(answered.opposite)]
    known = {finding["fact_id"] for section in document["sections"] for finding in section["findings"]}
    assert {fact for ids in facts.values() for fact in ids} <= known


@pytest.mark.parametrize(
    ("change", "mark"),
    [
        ("update facts set status = 'withdrawn' where id = %(id)s", "a fact of it is withdrawn since"),
        ("update facts set status = 'candidate' where id = %(id)s", "a fact of it is no longer sure enough"),
        ("delete from facts where id = %(id)s", "a fact of it is deleted since"),
    ],
)
async def test_a_sentence_whose_fact_changed_is_marked(
    pool: Pool, answered: Batch, shelf: Shelf, change: str, mark: str
) -> None:
    assert mark not in rendered(await gather(pool, answered.id), "md")
    shelf.connection.execute(change, {"id": answered.age})
    report = await gather(pool, answered.id)
    for name in ("md", "html"):
        assert rendered(report, name).count(mark) == 1


async def test_a_sentence_whose_fact_is_contradicted_since_says_by_which(
    pool: Pool, answered: Batch, shelf: Shelf
) -> None:
    rival = shelf.fact("sea-ice", "Old ice is thinner.", "https://example.org/rival", "thickness/rival")
    shelf.link(rival, answered.age, "contradicts")
    report = await gather(pool, answered.id)
    number = next(finding.number for finding in report.asides if finding.fact_id == str(rival))
    assert f"a fact of it is contradicted since by finding {number}" in rendered(report, "md")


async def test_what_is_not_known_is_made_of_nodes_runs_and_contradictions(
    pool: Pool, answered: Batch, shelf: Shelf
) -> None:
    shelf.node("sea-ice", "Albedo", is_goal_critical=True)
    [row] = shelf.connection.execute("select batch_id from runs where id = %s", (answered.run,)).fetchall()
    shelf.run("sea-ice", row[0], "What lives there?", state="failed", facts=0)
    shelf.run("sea-ice", row[0], "What does it taste of?", facts=0)
    shelf.run("sea-ice", row[0], "Who owns it?", state="running", facts=0)
    report = await gather(pool, answered.id)
    assert report.answer is not None
    *first, contradiction = report.answer.not_known
    assert set(first) == {
        "Nothing is known of Albedo.",
        "The research on “What lives there?” failed.",
        "The research on “What does it taste of?” found nothing that could be stored.",
        "The research on “Who owns it?” has not ended.",
    }
    assert re.fullmatch(r"Findings \d and \d contradict each other, and nothing settles it\.", contradiction)


async def test_what_the_runs_said_is_marked_sentence_by_sentence(
    pool: Pool, batch: Batch, shelf: Shelf
) -> None:
    answer = (
        "Old ice is thicker [1]. It is **blue**. Satellites help (https://example.org/methods/satellites)! "
        "Elsewhere it is green: https://nowhere.example.net/x.\n\nSources:\n[1] A page https://example.org/thickness/age\n"
    )
    shelf.connection.execute("update runs set answer = %s where id = %s", (answer, batch.run))
    report = await gather(pool, batch.id)
    assert report.answer is None
    urls = {source.number: source.url for source in report.sources}
    [said] = report.run_answers
    assert [(sentence.text[:9], [urls[n] for n in sentence.sources]) for sentence in said.sentences] == [
        ("Old ice i", ["https://example.org/thickness/age"]),
        ("It is **b", []),
        ("Satellite", ["https://example.org/methods/satellites"]),
        ("Elsewhere", []),
    ]
    text = rendered(report, "md")
    assert text.index("## Questions") < text.index("It is blue. *(") < text.index("**1.**")
    assert "It is blue. *(not cited)*" in text
    assert text.count("*(not cited)*") == 1
    assert "with no fact of this report)*" in text


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        ("- A is so. [1]\n- B is not. [2] [3]", ["A is so. [1]", "B is not. [2] [3]"]),
        ("## Head\n\n1. One thing. Another.\n> Quoted.", ["Head", "One thing.", "Another.", "Quoted."]),
        ("Text.\n\nSources:\n[1] T https://a.org/x", ["Text."]),
        ("", []),
    ],
)
def test_an_answer_is_cut_into_sentences_with_their_marks(answer: str, sentences: list[str]) -> None:
    assert said_sentences(answer) == sentences


async def test_words_that_a_statement_and_its_quote_share_are_shown_once(pool: Pool, batch: Batch) -> None:
    for name in ("md", "html"):
        text = rendered(await gather(pool, batch.id), name)
        assert text.count(AGE.rstrip(".")) == 1
        assert "In these very words." in text


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", ["https://", "- ", "\n", "[1] a://", "a://b ", "1. ", ". ", "[1]"])
def test_an_answer_that_is_made_to_be_slow_to_read_is_not(unit: str) -> None:
    said_sentences("[1] " + unit * (100_000 // len(unit)) + " x")
