"""What a run has read decides which addresses it may fetch."""

from uuid import UUID

import pytest
from support.run_harness import Stage
from support.scripted_model import call, calls, says, turn

from chiron_workers.errors import ToolError
from chiron_workers.runs.leases import say
from chiron_workers.runs.session import Caller, Session
from chiron_workers.sources.egress import addresses_in, save_taint
from chiron_workers.sources.sources import canonical
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.toolkit import tool


def opened(stage: Stage, run_id: UUID | None) -> Store:
    return Store(Session(stage.pool, Caller(run_id=run_id)), stage.embedder)


async def has_read(stage: Stage, run_id: UUID) -> None:
    caller = Caller(run_id=run_id, call_id="call-1")
    async with Store(Session(stage.pool, caller), stage.embedder) as store:
        await store.egress.mark_tainted()
        await save_taint(store.session, n=1, result="")


async def may_fetch(stage: Stage, run_id: UUID | None, url: str) -> bool:
    try:
        await opened(stage, run_id).egress.check(url)
    except ToolError as error:
        assert "has read private files" in str(error)
        return False
    return True


async def test_a_run_that_read_nothing_private_may_fetch_anything(stage: Stage) -> None:
    [run_id] = await stage.submit("tides")
    assert await may_fetch(stage, run_id, "https://example.org/any")


async def test_a_run_that_read_private_files_may_fetch_what_a_search_gave_it_before_or_since(
    stage: Stage,
) -> None:
    [run_id, other] = await stage.submit("tides", "moons")
    async with opened(stage, run_id) as store:
        await store.egress.allow(["https://Example.org:443/a?b=c#d", "corpus://physics/x"])
    await has_read(stage, run_id)
    async with opened(stage, run_id) as store:
        await store.egress.allow(["https://example.org/late", "https://example.org/late"])
    for url in ("https://example.org/a?b=c", "HTTPS://EXAMPLE.org/a?b=c#e", "https://example.org/late"):
        assert await may_fetch(stage, run_id, url), url
    for url in (
        "https://example.org/",
        "https://example.org/a",
        "https://example.org/a?b=c&secret=1",
        "https://example.org/A?b=c",
        "http://example.org/a?b=c",
        "https://example.org:8443/a?b=c",
        "https://me@example.org/a?b=c",
        "https://example.org.evil.test/a?b=c",
    ):
        assert not await may_fetch(stage, run_id, url), url
    await has_read(stage, other)
    assert not await may_fetch(stage, other, "https://example.org/late")  # given to another run


async def test_what_a_person_wrote_may_be_fetched(stage: Stage) -> None:
    [run_id] = await stage.submit("Compare https://example.org/one, (https://example.org/two) and others.")
    await has_read(stage, run_id)
    await say(stage.pool, run_id, "Look at https://Example.org/three?x=1!")
    for path in ("one", "two", "three?x=1"):
        assert await may_fetch(stage, run_id, f"https://example.org/{path}"), path
    for path in ("", "on", "one/more", "three", "three?x=12"):
        assert not await may_fetch(stage, run_id, f"https://example.org/{path}"), path


async def test_a_tool_written_for_the_first_release_marks_its_run_too(stage: Stage) -> None:
    [run_id] = await stage.submit("Compare the two.")
    async with opened(stage, run_id) as store:
        await store.reach.note_private()
        assert await store.egress.is_tainted()


async def test_outside_of_a_run_nothing_is_refused(stage: Stage) -> None:
    async with opened(stage, None) as store:
        await store.egress.mark_tainted()
        await store.egress.allow(["https://example.org/"])
        await save_taint(store.session, n=1, result="")
        await store.egress.check("https://example.org/other")
    assert await stage.rows("select 1 from private_runs union all select 1 from given_addresses") == []


@pytest.mark.parametrize("fails", [False, True])
async def test_a_call_that_reads_private_files_marks_its_run_also_when_it_fails(
    stage: Stage, fails: bool
) -> None:
    @tool
    async def peek(store: Store) -> str:
        """Read a private file."""
        await store.egress.mark_tainted()
        if fails:  # errors quote what they choke on
            raise ToolError("cannot make a number of 'the secret word'")
        return "the secret word"

    stage.registry.register(peek)
    await stage.model(lambda request: [calls(call("peek")), says("Done.")][turn(request)])
    [run_id] = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    assert [row["run_id"] for row in await stage.rows("select run_id from private_runs")] == [run_id]
    assert not await may_fetch(stage, run_id, "https://example.org/")


def test_addresses_are_found_in_a_text_with_and_without_what_follows_them() -> None:
    text = "See <https://a.test/x>, http://B.test. or [c](https://c.test/y_(z)) and ftp://d.test"
    assert {
        "https://a.test/x",
        "http://b.test/",
        "https://c.test/y_(z",
        "https://c.test/y_(z))",
    } <= addresses_in(text)
    assert addresses_in("nothing here") == set()


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("https://example.org:443?q=A", "https://example.org/?q=A"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("http://User@Example.org:/A", "http://User@example.org/A"),
        ("http://[::FFFF:1]:80/x", "http://[::ffff:1]/x"),
        (" https://example.org/A#B ", "https://example.org/A"),
        ("corpus://Physics/A", "corpus://Physics/A"),
        ("http:/broken", "http:/broken"),
    ],
)
def test_an_address_has_one_canonical_form(url: str, same: str) -> None:
    assert canonical(url) == same
    assert canonical(same) == same
