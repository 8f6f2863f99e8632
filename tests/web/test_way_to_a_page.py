"""Sites that want their cookie back, and pages that send their reader on."""

import time
from collections.abc import Callable

import pytest
from aiohttp import web
from support.run_harness import Stage
from support.scripted_sites import Site

from chiron_workers.errors import ToolError
from chiron_workers.runs.session import Session
from chiron_workers.store import Store
from chiron_workers.web.cookies import COOKIES_MAX, Cookies
from chiron_workers.web.fetch import fetch_page
from chiron_workers.web.refreshes import refresh_target

WORDS = "The quay is 240 m long."
HERE = "https://example.org/a"


async def read(stage: Stage, url: str) -> tuple[str, str]:
    """The address where a page was found, and its text."""
    async with Store(Session(stage.pool), stage.embedder) as store:
        snapshot = await fetch_page(store, url)
    return snapshot.url, snapshot.text


def html(head: str, body: str = f"<p>{WORDS}</p>") -> str:
    return f"<html><head>{head}</head><body>{body}</body></html>"


def refresh(content: str) -> str:
    return html(f'<meta http-equiv="refresh" content="{content}">', "<p>Moved.</p>")


async def test_a_site_gets_the_cookie_back_that_it_has_set(stage: Stage, site: Site) -> None:
    def wall(request: web.Request) -> web.Response:
        if request.cookies.get("seen") == "1":
            return web.Response(text=WORDS)
        headers = {"Location": "/wall?cookieSet=1", "Set-Cookie": "seen=1; Path=/; HttpOnly"}
        return web.Response(status=302, headers=headers)

    site.answers["/wall"] = wall
    for _ in range(2):
        assert await read(stage, f"{site.url}/wall") == (f"{site.url}/wall?cookieSet=1", WORDS)
    assert site.asked("/wall") == 4, "the next reading begins without cookies"


async def test_a_cookie_goes_to_no_other_host(stage: Stage, site: Site, other_site: Site) -> None:
    cookies: list[str] = []

    def record(request: web.Request) -> web.Response:
        cookies.append(request.headers.get("Cookie", ""))
        return web.Response(text=WORDS)

    other_site.answers["/page"] = record
    site.text("/go", "", 302, Location=f"{other_site.url}/page", Set_Cookie="id=secret; Domain=127.0.0.2")
    await read(stage, f"{site.url}/go")
    assert cookies == [""]


async def test_a_page_that_sends_its_reader_on_is_followed_once(stage: Stage, site: Site) -> None:
    site.text("/old", refresh("0; url='/new?a=1&amp;b=2'"), Content_Type="text/html")
    site.text("/new", html(""), Content_Type="text/html")
    assert await read(stage, f"{site.url}/old") == (f"{site.url}/new?a=1&b=2", WORDS)
    site.text("/first", refresh("0;/second"), Content_Type="text/html")
    site.text("/second", refresh("0;/third"), Content_Type="text/html")
    assert await read(stage, f"{site.url}/first") == (f"{site.url}/second", "Moved.")
    assert site.asked("/third") == 0


async def test_where_a_page_sends_its_reader_is_checked_as_a_redirect_is(
    stage: Stage, site: Site, other_site: Site, setting: Callable[[str, str], None]
) -> None:
    setting("FETCH_ROBOTS", "true")
    other_site.text("/robots.txt", "User-agent: *\nDisallow: /closed")
    site.text("/go", refresh(f"0;url={other_site.url}/closed"), Content_Type="text/html")
    with pytest.raises(ToolError, match=r"robots\.txt forbids"):
        await read(stage, f"{site.url}/go")
    assert other_site.asked("/closed") == 0
    site.text("/metadata", refresh("0;url=http://169.254.169.254/latest"), Content_Type="text/html")
    with pytest.raises(ToolError, match="is refused"):
        await read(stage, f"{site.url}/metadata")


@pytest.mark.parametrize(
    ("head", "target"),
    [
        ('<META HTTP-EQUIV=Refresh CONTENT="3; URL=b">', "https://example.org/b"),
        ("<meta content='0;url=\"//example.com/\"' http-equiv='refresh'>", "https://example.com/"),
        ('<meta http-equiv="refresh" content="300;url=/b">', ""),
        ('<meta http-equiv="refresh" content="0">', ""),
        ('<meta http-equiv="refresh" content="0;url=/a#top">', ""),
        ('<meta http-equiv="refresh" content="0;url=javascript:alert(1)">', ""),
        ('<meta http-equiv="refresh" content="0;url=file:///etc/passwd">', ""),
        ('<!-- <meta http-equiv="refresh" content="0;url=/b"> -->', ""),
        ('<noscript><meta http-equiv="refresh" content="0;url=/b"></noscript>', ""),
        ('<script>\'<meta http-equiv="refresh" content="0;url=/b">\'</script>', ""),
        ('<meta http-equiv="refresh" content="0;URL=">', ""),
        (
            '<base href="https://example.com/d/"><meta http-equiv="refresh" content="0;url=b">',
            "https://example.com/d/b",
        ),
        ('<meta name="refresh" data-content="0;url=/b">', ""),
    ],
)
def test_only_a_page_that_sends_its_reader_on_at_once_has_a_target(head: str, target: str) -> None:
    assert refresh_target(html(head).encode(), HERE) == target


def test_a_cookie_ends_and_is_bounded_and_a_secure_one_stays_on_https() -> None:
    cookies = Cookies()
    cookies.store(HERE, ["a=1; Secure", "b=2", "no cookie", "c=3\r\nX: y", "b=; Max-Age=0"])
    assert cookies.header(HERE) == {"Cookie": "a=1"}
    assert cookies.header(HERE.replace("https", "http")) == {}
    cookies.store(HERE, [f"n{n}=x" for n in range(2 * COOKIES_MAX)])
    assert len(cookies.header(HERE)["Cookie"].split("; ")) == COOKIES_MAX


def test_a_cookie_of_the_past_is_not_sent_and_an_age_counts_before_a_date() -> None:
    cookies, past = Cookies(), "Expires=Thu, 01 Jan 1970 00:00:00 GMT"
    cookies.store(HERE, ["a=1", "b=2", "c=3", f"a=; {past}", f"b=4; {past}; Max-Age=60", "c=5; Expires=soon"])
    assert cookies.header(HERE) == {"Cookie": "b=4; c=5"}


@pytest.mark.parametrize("pair", ["a=" + " " * 4000 + "é", "a" + " " * 4000 + "é", "a=x" + " x" * 2000 + "é"])
def test_no_header_of_a_cookie_takes_long(pair: str) -> None:
    start = time.process_time()
    Cookies().store(HERE, [pair] * 10_000)
    assert time.process_time() - start < 1
