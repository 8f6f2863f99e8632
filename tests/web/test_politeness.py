"""How sites are asked: robots.txt as RFC 9309 has it, a pause between two requests, and rest for who asks for it."""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta

import pytest
from aiohttp import web
from psycopg.sql import SQL
from support.event_loop_delay import beating
from support.scripted_sites import Site

from chiron_workers.errors import ToolError
from chiron_workers.store import Store
from chiron_workers.tools.web import web_fetch
from chiron_workers.web.hosts import HostBusy, Hosts

RULES = """User-agent: *
Disallow: /

User-agent: Chiron
Disallow: /closed
Allow: /closed/but-this
Disallow: /*/private$
Disallow: /gro%C3%9F
"""
FORBIDDEN = r"the site's robots\.txt forbids it to programs"


async def text_of(store: Store, url: str) -> str:
    return (await web_fetch(store, url=url))["text"]


async def expire_robots(store: Store) -> None:
    async with store.session.pool.connection() as connection:
        await connection.execute("update robots set good_until = now() - interval '1 s'")


async def test_what_a_robots_txt_forbids_is_not_fetched(store: Store, site: Site) -> None:
    site.text("/robots.txt", RULES)
    open_paths = ("/", "/closed/but-this", "/a/private/b")
    closed = ("/closed", "/closed/else", "/a/private", "/gro%c3%9f/x", "/groß")
    for path in (*open_paths, *closed):
        site.text(path, "Words.")
    for path in open_paths:
        assert await text_of(store, site.url + path) == "Words."
    for path in closed:
        with pytest.raises(ToolError, match=FORBIDDEN):
            await text_of(store, site.url + path)
    assert set(site.requests) == {"/robots.txt", *open_paths}
    assert site.asked("/robots.txt") == 1


async def test_robots_can_be_ignored_by_a_setting(
    store: Store, site: Site, setting: Callable[[str, str], None]
) -> None:
    setting("FETCH_ROBOTS", "false")
    site.text("/robots.txt", "User-agent: *\nDisallow: /")
    assert await text_of(store, site.text("/page", "Words.")) == "Words."
    assert site.requests == ["/page"]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
async def test_a_client_error_means_that_there_are_no_rules(store: Store, site: Site, status: int) -> None:
    site.text("/robots.txt", "User-agent: *\nDisallow: /", status=status)
    assert await text_of(store, site.text("/page", "Words.")) == "Words."


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_after_a_server_error_nothing_is_fetched_until_it_is_mended(
    store: Store, site: Site, status: int
) -> None:
    site.text("/robots.txt", "", status=status)
    page = site.text("/page", "Words.")
    for _ in range(2):
        with pytest.raises(ToolError, match=f"its robots.txt answered {status}, so nobody knows"):
            await text_of(store, page)
    assert site.requests == ["/robots.txt"]
    site.text("/robots.txt", "")
    await expire_robots(store)
    assert await text_of(store, page) == "Words."


async def test_what_was_read_before_holds_while_a_robots_txt_is_away(store: Store, site: Site) -> None:
    site.text("/robots.txt", "User-agent: *\nDisallow: /closed")
    page, closed = site.text("/page", "Words."), site.text("/closed", "Words.")
    await text_of(store, page)
    site.text("/robots.txt", "", status=500)
    await expire_robots(store)
    assert await text_of(store, page) == "Words."
    with pytest.raises(ToolError, match=FORBIDDEN):
        await text_of(store, closed)


async def test_a_robots_txt_may_redirect_and_too_often_means_no_rules(
    store: Store, site: Site, other_site: Site
) -> None:
    site.text("/robots.txt", "", status=301, Location="/rules")
    site.text("/rules", "User-agent: *\nDisallow: /closed")
    with pytest.raises(ToolError, match=FORBIDDEN):
        await text_of(store, site.text("/closed", "Words."))
    other_site.text("/robots.txt", "", status=302, Location="/robots.txt")
    assert await text_of(store, other_site.text("/closed", "Words.")) == "Words."


async def test_a_redirect_to_another_site_obeys_that_site(store: Store, site: Site, other_site: Site) -> None:
    other_site.text("/robots.txt", "User-agent: *\nDisallow: /closed")
    there = other_site.text("/closed", "Words.")
    with pytest.raises(ToolError, match=FORBIDDEN):
        await text_of(store, site.text("/moved", "", status=302, Location=there))
    assert other_site.requests == ["/robots.txt"]


@pytest.mark.parametrize(
    "body",
    [
        b"\x00\xff" * 1000,
        b"Disallow: /\n" * 100_000,  # longer than is read
        b"User-agent: x\n" * 20 + b"\xef\xbb\xbf",
        b"".join(b"User-agent: %d\n" % n for n in range(15_000)) + b"Disallow: /a\n" * 20_000,
        b"User-agent: *\nDisallow: " + b"/*a" * 100_000,
    ],
    ids=["binary", "long", "odd", "many by many", "stars"],
)
async def test_a_hostile_robots_txt_costs_a_few_seconds_at_most(
    store: Store, site: Site, body: bytes
) -> None:
    site.text("/robots.txt", body)
    page = site.text("/page", "Words.")
    began = time.monotonic()
    async with beating() as pulse:
        try:
            assert await text_of(store, page) == "Words."
        except ToolError as error:
            assert "robots.txt cannot be followed" in str(error)
    assert time.monotonic() - began < 30
    assert pulse.worked_s < 0.5, "the loop was there for others"


async def test_two_requests_to_a_host_are_a_pause_apart_whoever_makes_them(
    store: Store, site: Site, other_site: Site, setting: Callable[[str, str], None]
) -> None:
    setting("FETCH_PAUSE_S", "0.3")
    pages = [site.text(f"/{n}", "Words.") for n in range(3)]
    began = time.monotonic()
    async with beating() as pulse:
        await asyncio.gather(
            *(text_of(store, page) for page in pages), text_of(store, other_site.text("/", "Words."))
        )
    assert time.monotonic() - began > 3 * 0.28
    apart = [later - earlier for earlier, later in zip(site.moments, site.moments[1:], strict=False)]
    assert min(apart) > 0.2 - pulse.still_s  # moments are taken where requests arrive, once the loop goes on
    assert len(site.requests) >= 4
    assert max(other_site.moments) < max(site.moments) + pulse.still_s


async def test_a_crawl_delay_is_honoured(
    store: Store, site: Site, setting: Callable[[str, str], None]
) -> None:
    site.text("/robots.txt", "User-agent: *\nCrawl-delay: 0.5")
    await text_of(store, site.text("/1", "Words."))
    await text_of(store, site.text("/2", "Words."))
    assert site.moments[2] - site.moments[1] > 0.4


async def test_a_host_that_asks_for_rest_gets_it(store: Store, site: Site) -> None:
    page, other = site.text("/page", "", status=429, Retry_After="300"), site.text("/other", "Words.")
    with pytest.raises(
        ToolError, match=r"answered 429 Too Many Requests and asks to be left alone for 300 s\."
    ):
        await text_of(store, page)
    with pytest.raises(HostBusy, match=r"127\.0\.0\.1 must not be asked again for (300|299) s"):
        await text_of(store, other)
    assert site.asked("/other") == 0


async def test_a_moment_to_come_back_is_read_by_the_clock_of_the_server_that_names_it(
    store: Store, site: Site
) -> None:
    server_clock = {"Date": "Sun, 01 Mar 2026 10:00:00 GMT", "Retry_After": "Sun, 01 Mar 2026 10:05:00 GMT"}
    with pytest.raises(ToolError, match=r"asks to be left alone for 300 s\."):
        await text_of(store, site.text("/page", "", status=429, **server_clock))


@pytest.mark.parametrize(
    ("value", "rest"),
    [("Wed, 21 Oct 2099 07:28:00 GMT", "3,600 s"), ("99999999", "3,600 s"), ("soon", ""), ("-3", "")],
)
async def test_how_long_a_host_wants_to_rest_is_read_in_both_forms_and_bounded(
    store: Store, site: Site, value: str, rest: str
) -> None:
    with pytest.raises(ToolError, match="answered 503 Service Unavailable") as failure:
        await text_of(store, site.text("/page", "", status=503, Retry_After=value))
    assert ("left alone for " + rest in str(failure.value)) == bool(rest)


async def test_turns_are_handed_out_to_all_workers_and_nobody_queues_for_ever(store: Store) -> None:
    hosts = Hosts(store.session.pool)
    pause, patience = timedelta(seconds=10), timedelta(seconds=35)
    waits = sorted(
        await asyncio.gather(*(hosts.take_turn("a.test", pause=pause, patience=patience) for _ in range(4)))
    )
    assert [round(wait_s) for wait_s in waits] == [0, 10, 20, 30]
    with pytest.raises(HostBusy, match="must not be asked again for 40 s"):
        await hosts.take_turn("a.test", pause=pause, patience=patience)
    assert await hosts.take_turn("b.test", pause=pause, patience=patience) == 0


async def test_hosts_that_nobody_asks_any_more_are_forgotten(store: Store) -> None:
    hosts = Hosts(store.session.pool)
    await hosts.save_robots("http://old.test", b"x")
    await hosts.take_turn("old.test", pause=timedelta(0), patience=timedelta(0))
    async with store.session.pool.connection() as connection:
        await connection.execute("update robots set good_until = now() - interval '8 days'")
        await connection.execute("update hosts set next_at = now() - interval '8 days'")
    await hosts.save_robots("http://new.test", None)
    rows = await store.session.rows(SQL("select origin as name from robots union all select host from hosts"))
    assert [row["name"] for row in rows] == ["http://new.test"]


async def test_one_slow_answer_keeps_no_other_host_waiting(
    store: Store, site: Site, other_site: Site
) -> None:
    late = asyncio.Event()

    async def slow(request: web.Request) -> web.Response:
        await late.wait()
        return web.Response(text="Late.")

    site.answers["/slow"] = slow
    waiting = asyncio.create_task(text_of(store, site.url + "/slow"))
    assert await text_of(store, other_site.text("/", "Words.")) == "Words."
    late.set()
    assert await waiting == "Late."
