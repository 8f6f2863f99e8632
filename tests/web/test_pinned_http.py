"""No form of an address that is not public is reached: not written, not through a name, and not by a redirect."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest
from aiohttp import web
from support.scripted_sites import Site, serving

from chiron_workers.errors import ToolError
from chiron_workers.store import Store
from chiron_workers.tools.web import web_fetch
from chiron_workers.web import pinned_http

LOOPBACK = (
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "0X7F.0X0.0X0.0X1", "0177.0.0.1",
    "017700000001", "00000177.0.0.01", "127.0.0.1.", "127.0.0.0", "127.127.127.127", "127.255.255.254", "0", "0x0", "0.0.0.0",
    "0.0.0.0.", "localhost", "LOCALHOST", "localhost.", "①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127．0．0．1",
    "127｡0｡0｡1", "ⓛocalhost", "%31%32%37.0.0.1", "127.0.0.1%00.example.org", "127.0.0.1%2eexample.org", "127.0.0.1%09",
)  # fmt: skip
IPV6 = (
    "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]", "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::]", "[2002:c0a8:1::1]", "[2001:0:7f00:1::]", "[2001::5601:5601]", "[2001:0:808:808::80ff:fffe]",
    "[fe80::1]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%25lo]", "[::1%lo]", "[fc00::1]", "[fd12:3456::1]", "[fec0::1]",
    "[ff01::1]", "[ff02::1]", "[100::1]", "[2001:db8::1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]",
)  # fmt: skip
PRIVATE = (
    "10.0.0.1", "10.1", "0xa000001", "012.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "3232235521", "169.254.1.1",
    "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250",
    "240.0.0.1", "255.255.255.255",
)  # fmt: skip
METADATA = (
    "169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.254.43518", "169.254.170.2", "169.254.169.253",
    "100.100.100.200", "192.0.0.192", "168.63.129.16", "[fd00:ec2::254]", "[fd20:ce::254]", "[fd00:c1::a9fe:a9fe]",
    "[::ffff:100.100.100.200]", "metadata.google.internal", "metadata.google.internal.", "METADATA.Google.Internal",
    "instance-data.ec2.internal", "metadata.azure.internal", "rancher-metadata", "kubernetes.default.svc",
)  # fmt: skip
TRICKS = (
    "user@127.0.0.1", "example.org@127.0.0.1", "example.org:80@127.0.0.1", "127.0.0.1@example.org", "a:b@c@127.0.0.1",
    "example.org%40127.0.0.1", "example.org\\@127.0.0.1", "127.0.0.1\\@example.org", "127.0.0.1 .example.org", "127.0.0.1\t",
    "127.0.0.1\n", "127.0.0.1\r\nHost: example.org", "rebound.test", "two-faced.test", "mapped.test", "alias.test",
    "[::1", "::1", "[127.0.0.1]", "[[::1]]", "", ".", "..", "@127.0.0.1", ":80",
)  # fmt: skip
FORMS = LOOPBACK + IPV6 + PRIVATE + METADATA + TRICKS
NAMES = {
    "metadata.google.internal": ["169.254.169.254"],
    "instance-data.ec2.internal": ["169.254.169.254"],
    "metadata.azure.internal": ["168.63.129.16"],
    "rancher-metadata": ["169.254.169.250"],
    "kubernetes.default.svc": ["10.96.0.1"],
    "rebound.test": ["127.0.0.1"],
    "two-faced.test": ["127.0.0.77", "127.0.0.1"],  # one that may be reached and one that may not
    "mapped.test": ["::ffff:127.0.0.1"],
    "alias.test": ["0.0.0.0"],
}
SCHEMES = (
    "file:///etc/passwd", "FILE:///etc/passwd", "gopher://127.0.0.1:6379/_INFO", "dict://127.0.0.1:11211/stat", "ftp://127.0.0.1/",
    "ldap://127.0.0.1/", "jar:http://127.0.0.1!/", "data:text/html,x", "javascript:alert(1)", "ws://127.0.0.1/", "unix:///var/run/x",
)  # fmt: skip


@pytest.fixture(autouse=True)
def public_only(setting: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """As by default, but for one address that stands for the whole internet; names are looked up here."""
    setting("FETCH_PRIVATE", "false")
    internet = (ip_network("127.0.0.77/32"),)
    policy = replace(
        pinned_http.PUBLIC_ONLY, allowed_networks=internet, allowed_ports=frozenset(range(1, 65_536))
    )
    monkeypatch.setattr(pinned_http, "PUBLIC_ONLY", policy)
    really = socket.getaddrinfo

    def lookup(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        addresses = NAMES.get(str(host).rstrip(".").lower())
        if addresses is None:
            return really(host, port, *args, **kwargs)
        return [found for address in addresses for found in really(address, port, *args, **kwargs)]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)


@pytest.fixture
async def internet() -> AsyncIterator[Site]:
    async with serving("127.0.0.77") as site:
        yield site


@pytest.fixture
async def witness() -> AsyncIterator[Site]:
    """What listens on loopback, on IPv4 and IPv6, and must hear nothing."""
    heard = Site()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.requests.append("a connection")
        writer.close()

    first = await asyncio.start_server(hear, "127.0.0.1", 0)
    port = first.sockets[0].getsockname()[1]
    heard.url = str(port)
    second = await asyncio.start_server(hear, "::1", port) if socket.has_ipv6 else None
    yield heard
    assert heard.requests == []
    for server in (first, second):
        if server:
            server.close()
            await server.wait_closed()


def test_the_list_is_long_enough() -> None:
    assert len(set(FORMS)) >= 120


async def test_no_form_of_an_address_gets_through(store: Store, witness: Site) -> None:
    reached = []
    for form in FORMS:
        for url in (f"http://{form}:{witness.url}/", f"http://{form}/", f"https://{form}:{witness.url}/x"):
            try:
                reached.append((url, await web_fetch(store, url=url)))
            except ToolError as error:
                refused = re.search(r"is refused: |its host name is not known", str(error))
                assert refused, (url, str(error))  # never that a connection failed
                assert "\n" not in str(error)
    assert reached == []


async def test_no_redirect_gets_through(store: Store, witness: Site, internet: Site) -> None:
    places = [f"http://{form}:{witness.url}/" for form in FORMS] + [
        f"//{form}:{witness.url}/" for form in LOOPBACK
    ]
    places += [f"http://{form}/" for form in METADATA] + list(SCHEMES)
    for n, place in enumerate(places):
        for status in (301, 302, 303, 307, 308):

            async def send(request: web.Request, place: str = place, status: int = status) -> web.Response:
                # As bytes: aiohttp would encode or refuse what a hostile server just sends.
                assert request.transport is not None
                request.transport.write(
                    f"HTTP/1.1 {status} Moved\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode()
                )
                request.transport.close()
                return web.Response()

            internet.answers[f"/{n}"] = send
            with pytest.raises(ToolError) as failure:
                await web_fetch(store, url=f"{internet.url}/{n}")
            assert "passwd:" not in str(failure.value)
            if n % 10:  # each place once, and each kind of redirect to every tenth
                break
    assert internet.asked("/1") == 1


async def test_no_other_scheme_is_fetched(store: Store) -> None:
    for url in SCHEMES:
        with pytest.raises(ToolError, match="must begin with http://, https:// or corpus://"):
            await web_fetch(store, url=url)


async def test_the_standin_for_the_internet_can_be_reached(store: Store, internet: Site) -> None:
    assert (await web_fetch(store, url=internet.text("/", "Words.")))["text"] == "Words."


async def test_a_name_that_changes_between_check_and_connection_leads_nowhere_else(
    store: Store, internet: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(internet.url.rpartition(":")[2])
    heard: list[str] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append("a connection")
        writer.close()

    inside = await asyncio.start_server(hear, "127.0.0.1", port)
    lookups: list[str] = []
    patched = socket.getaddrinfo

    def changing(host: Any, port: Any, *args: Any, **kwargs: Any) -> Any:
        if str(host) != "changing.test":
            return patched(host, port, *args, **kwargs)
        lookups.append("127.0.0.77" if len(lookups) % 2 == 0 else "127.0.0.1")
        return patched(lookups[-1], port, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", changing)
    internet.text("/robots.txt", "")
    internet.text("/page", "Words.")
    url = f"http://changing.test:{port}"
    for n in range(6):
        try:
            assert (await web_fetch(store, url=f"{url}/page?{n}"))["text"] == "Words."
        except ToolError as error:
            assert "is refused: 127.0.0.0/8 is Loopback" in str(error)
    assert heard == []
    assert "127.0.0.1" in lookups
    assert len(lookups) == 7  # one for each request: six pages, one robots.txt, no second look
    inside.close()
    await inside.wait_closed()


async def test_with_private_networks_allowed_the_clouds_credentials_stay_out_of_reach(
    store: Store, setting: Callable[[str, str], None]
) -> None:
    setting("FETCH_PRIVATE", "true")
    for form in METADATA:
        if form not in ("kubernetes.default.svc",):
            with pytest.raises(ToolError, match=r"is refused|cannot be fetched: its host name"):
                await web_fetch(store, url=f"http://{form}/latest/meta-data/")
