"""The page of a subject: what is known, and where the holes are."""

from uuid import uuid4

import httpx2
import psycopg
from support.research_rows import Shelf

from chiron_workers.settings import Settings

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)> مرحبا 🙂 \u202eabc\x1b[31m"


async def text_of(client: httpx2.AsyncClient, path: str) -> str:
    answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_a_form_makes_a_subject_with_its_goal_and_leads_to_its_page(client: httpx2.AsyncClient):
    assert "None yet" in await text_of(client, "/subjects")
    form = {
        "title": "Heat pumps",
        "purpose_statement": "Choose one for an old house",
        "target_depth": "expert",
    }
    answer = await client.post("/subjects", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/subjects/heat-pumps")
    page = await text_of(client, "/subjects/heat-pumps")
    assert "Choose one for an old house" in page
    assert "Depth: expert" in page
    assert "No map yet" in page
    assert "Heat pumps" in await text_of(client, "/subjects")


async def test_a_name_without_letters_is_refused_in_the_form(client: httpx2.AsyncClient):
    answer = await client.post("/subjects", data={"title": "?!", "purpose_statement": "Know <b>it</b>"})
    assert answer.status_code == 422
    assert "letters or digits" in answer.text
    assert "Know &lt;b&gt;it&lt;/b&gt;" in answer.text


async def test_a_name_that_is_too_long_is_refused_in_the_form(client: httpx2.AsyncClient):
    answer = await client.post("/subjects", data={"title": "x" * 301, "purpose_statement": "Know it well"})
    assert answer.status_code == 422
    assert "Know it well" in answer.text
    assert 'maxlength="300"' in answer.text


async def test_the_goal_is_said_anew(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("python")
    answer = await client.post("/subjects/python/goal", data={"purpose_statement": "Read others' code"})
    assert answer.status_code == 303
    assert "Read others&#39; code" in await text_of(client, "/subjects/python")


async def test_a_list_counts_facts_by_status_with_nodes_and_documents(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("python", "Python")
    shelf.node("python", "Closures")
    shelf.fact("python", "A closure keeps names.", "https://a.example/1")
    shelf.fact("python", "A closure keeps values.", "https://a.example/2", status="candidate")
    page = await text_of(client, "/subjects")
    assert "1 accepted" in page
    assert "1 candidate" in page
    assert 'data-label="nodes">1<' in page


async def test_the_map_shows_what_is_covered_and_where_the_holes_are(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("python", "Python")
    top = shelf.node("python", "Functions")
    closures = shelf.node("python", "Closures", top)
    shelf.node("python", "Decorators", top, is_goal_critical=True, prerequisites=[closures])
    for n in range(3):
        shelf.fact("python", f"A closure keeps name {n}.", f"https://a.example/{n}", "functions/closures")
    page = await text_of(client, "/subjects/python")
    assert "<dd>1 of 3</dd>" in page
    assert page.count("<circle") == 3
    assert page.count('class="edge need"') == 1
    assert page.count('class="edge"') == 2
    assert "3 facts" in page
    assert 'class="c0"' in page
    holes = page[page.index('id="holes"') :]
    assert "Decorators" in holes[: holes.index("</ul>")]
    assert "Closures" not in holes[: holes.index("</ul>")]


async def test_a_node_narrows_the_facts_to_its_own_and_those_below(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("python", "Python")
    top = shelf.node("python", "Functions", description="What is called")
    shelf.node("python", "Closures", top)
    other = shelf.node("python", "Modules", description="What is imported")
    shelf.fact("python", "A closure keeps names.", "https://a.example/1", "functions/closures")
    shelf.fact("python", "A module is a file.", "https://a.example/2", "modules")
    page = await text_of(client, f"/subjects/python?node={top}")
    facts = page[page.index('id="facts"') : page.index('id="work"')]
    assert "What is called" in page
    assert "A closure keeps names." in facts
    assert "A module is a file." not in facts
    assert "What is imported" in await text_of(client, f"/subjects/python?node={other}")
    assert "What is called" not in await text_of(client, f"/subjects/python?node={uuid4()}")


async def test_a_map_of_many_nodes_is_one_to_walk_into(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("python", "Python")
    tops = [shelf.node("python", f"Part {n}") for n in range(10)]
    for n, top in enumerate(tops):
        for m in range(30):
            shelf.node("python", f"Topic {n}.{m}", top)
    page = await text_of(client, "/subjects/python")
    assert "30 nodes below" in page
    assert "Topic 9.7" not in page[page.index("<svg") : page.index("</svg>")]
    page = await text_of(client, f"/subjects/python?node={tops[9]}")
    assert "Topic 9.7" in page[page.index("<svg") : page.index("</svg>")]


async def test_contradictions_stand_as_pairs(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("python", "Python")
    first = shelf.fact("python", "It began in 1989.", "https://a.example/1", status="disputed")
    other = shelf.fact("python", "It began in 1991.", "https://a.example/2", status="disputed")
    withdrawn = shelf.fact("python", "It began in 1970.", "https://a.example/3", status="withdrawn")
    shelf.link(first, other, "contradicts", reason="1989 is not 1991.")
    shelf.link(other, first, "contradicts", reason="1991 is not 1989.")
    shelf.link(withdrawn, first, "contradicts", reason="1970 is not 1989.")
    page = await text_of(client, "/subjects/python")
    pairs = page[page.index('id="contradictions"') :]
    assert pairs.count('class="opposed"') == 1
    assert pairs.count("It began in 1989.") == 1
    assert pairs.count("It began in 1991.") == 1


async def test_sources_say_what_became_of_them(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("python", "Python")
    shelf.fact("python", "One.", "https://a.example/gone", ground="source gone", source_kind="official")
    shelf.fact("python", "Two.", "https://b.example/stands", source_kind="academic")
    shelf.fact("python", "Three.", "https://c.example/retracted")
    shelf.insert("retracted_sources", url="https://c.example/retracted", doi="10.1/x", said_by="crossref")
    sources = await text_of(client, "/subjects/python/sources")
    assert sources.index(">gone<") < sources.index(">stands<")
    assert ">retracted<" in sources
    assert "1 official" in sources


async def test_a_button_has_the_sources_read_again_and_the_state_of_that_is_shown(
    client: httpx2.AsyncClient, shelf: Shelf, settings: Settings
):
    shelf.subject("python", "Python")
    shelf.fact("python", "One.", "https://a.example/1")
    assert 'action="/subjects/python/recheck"' in await text_of(client, "/subjects/python/sources")
    for _ in range(2):
        answer = await client.post("/subjects/python/recheck", data={"token": ""})
        assert answer.headers["location"] == "/subjects/python/sources"
    with psycopg.connect(settings.database_url) as connection:
        assert connection.execute("select count(*) from rechecks").fetchone() == (1,)
    page = await text_of(client, "/subjects/python/sources")
    assert "Last recheck: <span" in page
    assert "state queued" in page


async def test_what_changed_follows_the_day_in_the_address(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("python", "Python")
    shelf.fact("python", "An old fact.", "https://a.example/1")
    assert "Nothing is different since then" in await text_of(client, "/subjects/python/changes")
    page = await text_of(client, "/subjects/python/changes?since=2026-02-01")
    assert "An old fact." in page
    assert 'value="2026-02-01"' in page
    assert (await client.get("/subjects/python/changes?since=")).status_code == 200
    for day in ("2999-01-01", "0001-01-01", "9999-12-31"):
        assert (await client.get(f"/subjects/python/changes?since={day}")).status_code == 422


async def test_batches_and_subscriptions_of_a_subject_are_listed(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("python", "Python")
    shelf.subject("other", "Other")
    batch_id, _ = shelf.batch("python", "The first batch"), shelf.batch("other", "Another batch")
    shelf.run("python", batch_id, "Closures")
    body = {
        "topics": ["What is new?"],
        "subject": "python",
        "cron": "0 7 * * 1",
        "time_zone": "Europe/Berlin",
    }
    assert (await client.post("/v1/subscriptions", json=body)).status_code == 201
    page = await text_of(client, "/subjects/python")
    assert "The first batch" in page
    assert "Another batch" not in page
    assert "What is new?" in page
    assert "0 7 * * 1" in page


async def test_nothing_that_strangers_wrote_becomes_markup(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("python", HOSTILE, purpose=HOSTILE)
    node = shelf.node("python", HOSTILE, description=HOSTILE)
    shelf.node("python", "needs it", prerequisites=[node], is_goal_critical=True)
    address = "https://example.org/" + HOSTILE
    first = shelf.fact("python", HOSTILE, address, HOSTILE, quote=HOSTILE, ground="source gone")
    other = shelf.fact("python", HOSTILE + "2", f"javascript:alert(1)//{HOSTILE}", "a")
    shelf.link(first, other, "contradicts", reason=HOSTILE)
    shelf.change(first, reason=HOSTILE)
    shelf.batch("python", HOSTILE)
    shelf.insert("rechecks", id=uuid4(), subject_id="python", error=HOSTILE, finished_at="2026-03-01")
    paths = ("", "/python", f"/python?node={node}", "/python/sources", "/python/changes?since=2026-01-01")
    for path in (f"/subjects{path}" for path in paths):
        text = await text_of(client, path)
        assert "<script>alert" not in text, path
        assert "<img" not in text, path
        assert "\u202e" not in text, path
        assert "\x1b" not in text, path
        assert 'href="javascript:' not in text, path


async def test_what_is_not_there_is_a_page_that_says_so(client: httpx2.AsyncClient):
    for path in ("/subjects/nothing", "/subjects/%3F%21"):
        answer = await client.get(path)
        assert answer.status_code in (404, 422)
        assert answer.headers["content-type"].startswith("text/html")
    assert (await client.post("/subjects/nothing/recheck", data={"token": ""})).status_code == 404


async def test_a_node_that_research_gained_nothing_for_is_marked_exhausted(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("moon")
    node = shelf.node("moon", "Tides")
    shelf.node("moon", "Orbit")
    assert "nothing yet, exhausted" not in await text_of(client, "/subjects/moon")
    shelf.connection.execute("update nodes set exhausted_at = now() where id = %s", [node])
    page = await text_of(client, "/subjects/moon")
    assert page.count("nothing yet, exhausted") == 2  # in the picture and in the list
    assert page.count('class="c0 exhausted"') == 1


async def test_facts_at_the_title_of_a_merged_node_count_for_the_other(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("moon")
    orbit, path = shelf.node("moon", "Orbit"), shelf.node("moon", "Trajectory")
    shelf.fact("moon", "It takes 27 days.", "https://a.example/", path="moon/trajectory")
    shelf.connection.execute(
        "update nodes set removed_at = now(), merged_into = %s where id = %s", [orbit, path]
    )
    page = await text_of(client, "/subjects/moon")
    assert "Trajectory</text>" not in page
    assert "belong to no node" not in page
    assert 'y="34.0">1 fact</text>' in page
