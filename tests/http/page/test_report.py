"""Reports as a browser gets them: read page by page, downloaded, and an answer written from them."""

import re

import httpx2
from support.report_writing import AGE, MEAN, OPEN, OPPOSITE, Batch, researched_batch, written_report
from support.research_rows import Shelf

from chiron_api.reports.paging import PAGE_FINDINGS, SUMMARY_MAX

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)> مرحبا 🙂 \u202eabc\x1b[31m"
UNKNOWN = "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa"


async def test_each_citation_leads_to_its_fact(client: httpx2.AsyncClient, batch: Batch):
    for path in (f"/batches/{batch.id}", f"/runs/{batch.run}", "/subjects/sea-ice"):
        page = (await client.get(f"{path}/report")).text
        for words in (OPEN, AGE, MEAN, OPPOSITE):
            assert words in page
        assert "Sea ice is salty" not in page
        assert f'<a class="cite" href="/facts/{batch.freeboard}?source=1" data-panel' in page
        assert f'<a class="number" href="/facts/{batch.age}" data-panel' in page
        assert f'Contradicted by <a href="/facts/{batch.mean}" data-panel>' in page
        facts = set(re.findall(r'href="(/facts/[^"?]+)', page))
        assert {(await client.get(fact)).status_code for fact in facts} == {200}


async def test_a_citation_leads_to_the_source_that_it_names(
    client: httpx2.AsyncClient, batch: Batch, shelf: Shelf
):
    shelf.confirm(batch.age, "Old ice is thick.", "https://b.example.org/", quote="Thick.", text="Thick. So.")
    page = (await client.get(f"/batches/{batch.id}/report")).text
    [link] = re.findall(rf'href="(/facts/{batch.age}\?source=2)"', page.partition("Contradictions")[0])[:1]
    assert ">Thick.</mark>" in (await client.get(link)).text


async def test_the_formats_are_downloads_and_the_file_has_anchors(client: httpx2.AsyncClient, batch: Batch):
    page = (await client.get(f"/batches/{batch.id}/report")).text
    links = re.findall(r'href="([^"]+)" download', page)
    assert f"/batches/{batch.id}/report.md" in links
    for link in links:
        answer = await client.get(link)
        assert answer.status_code == 200, link
        assert answer.headers["content-disposition"].startswith("attachment"), link
    file = (await client.get(f"/batches/{batch.id}/report.html")).text
    assert 'href="#s1"' in file
    assert "/facts/" not in file
    assert (await client.get(f"/batches/{batch.id}/report.exe")).status_code == 404


async def test_a_long_report_is_read_in_pages_under_the_numbers_of_the_whole(
    client: httpx2.AsyncClient, shelf: Shelf
):
    subject = shelf.subject("long")
    count = 2 * PAGE_FINDINGS + 5
    for n in range(count):
        shelf.fact(
            subject, f"Fact {n}.", f"https://s{n}.example.org/", f"part {n % 7}", confidence=0.9 - n / 1000
        )
    whole = (await client.get("/v1/subjects/long/report")).json()
    order = [
        (finding["number"], finding["content"])
        for section in whole["sections"]
        for finding in section["findings"]
    ]
    shown = []
    for number in (1, 2, 3):
        page = (await client.get(f"/subjects/long/report?page={number}")).text
        found = re.findall(r'id="f(\d+)".*?<bdi>(.*?)</bdi>', page, re.DOTALL)
        shown += [(int(n), words) for n, words in found]
        assert len(page.encode()) < 200_000
        assert f"Page {number} of 3" in page
        assert page.count('class="finding"') == min(PAGE_FINDINGS, count - (number - 1) * PAGE_FINDINGS)
    assert shown == order
    assert "Page 3 of 3" in (await client.get("/subjects/long/report?page=99")).text
    assert (await client.get("/subjects/long/report?page=x")).status_code == 422


async def test_contradictions_across_pages_are_told_on_both(client: httpx2.AsyncClient, shelf: Shelf):
    subject = shelf.subject("long")
    facts = [
        shelf.fact(subject, f"Fact {n}.", "https://example.org/", f"part {n:03}")
        for n in range(PAGE_FINDINGS + 5)
    ]
    shelf.link(facts[-1], facts[0], "contradicts")
    for number in (1, 2):
        page = (await client.get(f"/subjects/long/report?page={number}")).text
        pairs = page.partition('id="contradictions"')[2]
        assert "Fact 0." in pairs
        assert f"Fact {PAGE_FINDINGS + 4}." in pairs
        assert 'id="asides"' not in page


def _researched_lakes(shelf: Shelf, lakes: int, *, purpose: str | None = None) -> tuple[str, list[str]]:
    """A batch with a question about each lake, and the fact of each."""
    subject = shelf.subject("lakes", "Lakes", purpose)
    batch_id = shelf.batch(subject, "Depths of lakes")
    fact_ids = []
    for n in range(lakes):
        name = f"Lake {chr(65 + n // 26)}{chr(97 + n % 26)}"
        run_id = shelf.run(subject, batch_id, f"How deep is {name}?", answer=f"{name} is deep.")
        fact = shelf.fact(
            subject, f"{name} is {900 - n} m deep.", f"https://example.org/{n}", "depth", run_id=run_id
        )
        fact_ids.append(str(fact))
    return str(batch_id), fact_ids


async def test_a_report_begins_with_its_summary_and_charts_and_ends_with_how_it_was_made(
    client: httpx2.AsyncClient, shelf: Shelf
):
    batch_id, fact_ids = _researched_lakes(shelf, 3, purpose="Know all depths.")
    page = (await client.get(f"/batches/{batch_id}/report")).text
    file = (await client.get(f"/batches/{batch_id}/report.html")).text
    parts = ["<h1", 'class="lead', ">Summary<", ">Charts<", ">Questions<", ">Learning goal<"]
    parts += [">Sources<", ">How this report was made<", batch_id]
    content = page.partition('<div class="read">')[2]
    header = page.partition('<div class="read">')[0].partition("<h1")[2]
    places = [("<h1" + header + content).index(part) for part in parts[:-1]]
    assert places == sorted(places)
    lead = re.findall(r'<p class="lead[^>]*>(.*?)</p>', file)[0]
    assert lead in header
    assert "3 questions on Lakes" in lead
    assert '<a href="#t2"><bdi>#2 How deep is Lake Ab?</bdi></a>' in content
    assert f'<a href="/facts/{fact_ids[0]}" data-panel><title>Lake Aa: 900, finding 1</title>' in content
    assert f"Report on the batch {batch_id}" in content.partition('<section id="work">')[2]
    assert " style=" not in page


async def test_further_pages_of_a_report_have_only_questions(client: httpx2.AsyncClient, shelf: Shelf):
    count = 2 * PAGE_FINDINGS + 5
    batch_id, fact_ids = _researched_lakes(shelf, count, purpose="Know all depths.")
    first, second = [
        (await client.get(f"/batches/{batch_id}/report?page={number}")).text for number in (1, 2)
    ]
    assert f"{count} questions on Lakes" in first
    assert f"{count} facts." in first
    assert f'href="/batches/{batch_id}/report?page=2#findings"><bdi>#{PAGE_FINDINGS + 1} How deep' in first
    assert f'<a href="/facts/{fact_ids[0]}" data-panel><title>Lake Aa: 900' in first
    assert f"<dt>Findings</dt><dd>{count}</dd>" in first
    for part in (">Summary<", ">Charts<", ">Learning goal<", ">How this report was made<"):
        assert part in first
        assert part not in second
    assert ">Questions<" in second


async def test_the_summary_of_a_large_subject_has_its_first_topics(client: httpx2.AsyncClient, shelf: Shelf):
    subject = shelf.subject("large", "Large")
    for n in range(SUMMARY_MAX + 5):
        for part in (1, 2):
            shelf.fact(
                subject,
                f"Fact {n}.{part}.",
                f"https://example.org/{n}",
                f"part {n:03}",
                confidence=0.95 - part / 10,
            )
    page = (await client.get("/subjects/large/report")).text
    summary = page.partition('<section id="summary">')[2].partition("</section>")[0]
    assert summary.count("Fact ") == SUMMARY_MAX
    assert summary.count(">2</td>") == SUMMARY_MAX
    assert "And 5 more, on further pages." in page
    assert len(page.encode()) < 200_000


async def test_a_written_answer_comes_first_and_its_facts_open(
    client: httpx2.AsyncClient, batch: Batch, shelf: Shelf
):
    sentences = [(OPEN, [batch.freeboard]), (f"{AGE} <b>", [batch.age, batch.freeboard])]
    written_report(shelf, batch, ("Summary", sentences))
    page = (await client.get(f"/batches/{batch.id}/report")).text
    answer, _, rest = page.partition('<section id="findings">')
    assert "Written by claude-opus-5-5" not in answer
    assert "Written by claude-opus-5-5" in rest.partition('<section id="work">')[2]
    assert f'<a href="/facts/{batch.freeboard}" data-panel aria-label="Finding' in answer
    assert f'<a class="cite" href="/facts/{batch.age}?source=1" data-panel' in answer
    assert "&lt;b&gt;" in answer
    assert rest


async def test_facts_that_an_answer_names_are_known_from_whichever_page(
    client: httpx2.AsyncClient, shelf: Shelf
):
    batch = researched_batch(shelf)
    for n in range(PAGE_FINDINGS):
        shelf.fact("sea-ice", f"Fact {n}.", "https://example.org/", "a first topic", run_id=batch.run)
    written_report(shelf, batch, ("Summary", [(MEAN, [batch.mean])]))
    page = (await client.get(f"/batches/{batch.id}/report")).text
    answer, _, rest = page.partition('<section id="findings">')
    assert f'href="/facts/{batch.mean}" data-panel' in answer
    assert "contradicted since by finding" in answer
    assert f'id="f{PAGE_FINDINGS + 1}"' not in rest


async def test_an_answer_is_written_once_from_the_same_facts(client: httpx2.AsyncClient, batch: Batch):
    path, form = f"/batches/{batch.id}/report", {"model": "offline", "budget_usd": ""}
    page = (await client.get(path)).text
    assert "A model writes an answer from these 4 findings" in page
    assert "without a model that judges, unless it has the words of its facts" in page
    first, again = [await client.post(path, data=form) for _ in range(2)]
    fresh = await client.post(path, data=form | {"again": "1"})
    assert (first.status_code, fresh.status_code) == (303, 303)
    assert first.headers["location"] == again.headers["location"] != fresh.headers["location"]
    assert "Report: How thick is Arctic sea ice?" in (await client.get(first.headers["location"])).text


async def test_what_is_wrong_in_the_form_is_said_in_it(client: httpx2.AsyncClient, batch: Batch):
    answer = await client.post(f"/batches/{batch.id}/report", data={"budget_usd": "much"})
    assert answer.status_code == 422
    assert "budget_usd: an amount of USD above 0, such as 2.5" in answer.text
    assert 'value="much"' in answer.text
    assert 'name="model" maxlength="200"' in answer.text
    long = await client.post(f"/batches/{batch.id}/report", data={"model": "m" * 201})
    assert (long.status_code, "model: String should have at most 200 characters" in long.text) == (422, True)


async def test_without_facts_nothing_is_written_and_the_page_says_so(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("empty")
    page = await client.get("/subjects/empty/report")
    assert page.status_code == 200
    assert "Nothing has been stored yet that is sure enough to be shown." in page.text
    answer = await client.post("/subjects/empty/report", data={"model": ""})
    assert answer.status_code == 422
    assert "There is no fact to write from" in answer.text


async def test_there_is_no_such_report(client: httpx2.AsyncClient, batch: Batch):
    paths = (
        f"/batches/{UNKNOWN}",
        f"/runs/{batch.id}",
        f"/batches/{batch.run}",
        "/subjects/none",
        "/runs/no-id",
    )
    for path in paths:
        for name in ("report", "report.md"):
            assert (await client.get(f"{path}/{name}")).status_code == 404, path
        assert (await client.post(f"{path}/report", data={"model": ""})).status_code == 404, path


async def test_words_of_strangers_never_become_markup(client: httpx2.AsyncClient, shelf: Shelf):
    subject = shelf.subject("towers", title=HOSTILE, purpose=HOSTILE)
    batch_id = shelf.batch(subject, name=HOSTILE)
    run_id = shelf.run(subject, batch_id, HOSTILE, answer=HOSTILE)
    first = shelf.fact(subject, HOSTILE, f"javascript:{HOSTILE}", HOSTILE, quote=HOSTILE, run_id=run_id)
    other = shelf.fact(subject, HOSTILE + "2", "https://example.org/" + HOSTILE, "b", run_id=run_id)
    shelf.link(first, other, "contradicts", reason=HOSTILE)
    for path in (f"/batches/{batch_id}", f"/runs/{run_id}", f"/subjects/{subject}"):
        text = (await client.get(f"{path}/report")).text
        for mark in ("<script>alert", "<img", "\u202e", "\x1b", 'href="javascript:'):
            assert mark not in text, mark
        assert "<script>alert" not in (await client.post(f"{path}/report", data={"budget_usd": HOSTILE})).text
