"""Pages of the web under their real addresses, all served by one site on loopback, and facts stored from them."""

import random
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch
from urllib.parse import urlsplit

from aiohttp import web

from chiron_workers.store import Store
from chiron_workers.tools.knowledge import store_knowledge
from chiron_workers.web.fetch import fetch_page
from support.scripted_sites import Site

SYLLABLES = [
    "ba",
    "ke",
    "lo",
    "mi",
    "nu",
    "ra",
    "se",
    "ti",
    "vo",
    "zu",
    "fel",
    "gor",
    "han",
    "jin",
    "pol",
    "wes",
]


@dataclass(frozen=True)
class PageOfWeb:
    """A page: `paragraphs` below a heading, `meta` its citation_* metadata."""

    url: str
    paragraphs: tuple[str, ...]
    title: str = ""
    meta: tuple[tuple[str, str], ...] = ()

    @property
    def html(self) -> str:
        tags = "".join(f'<meta name="{name}" content="{value}">' for name, value in self.meta)
        body = "".join(f"<p>{paragraph}</p>" for paragraph in self.paragraphs)
        title = self.title or f"Notes {words(self.url, 2)}"
        return f"<html><head><title>{title}</title>{tags}</head><body><article><h1>{title}</h1>{body}</article></body></html>"


def words(seed: str, count: int) -> str:
    """Words that no other page has, in sentences of ten."""
    draw = random.Random(seed)
    sentences = []
    while count > 0:
        sentence = ["".join(draw.choices(SYLLABLES, k=draw.randint(2, 4))) for _ in range(min(10, count))]
        sentences.append(" ".join(sentence).capitalize() + ".")
        count -= len(sentence)
    return " ".join(sentences)


@contextmanager
def names_of_loopback() -> Iterator[None]:
    """Have every name of a host mean this machine."""
    look_up = socket.getaddrinfo

    def find(host: object, *args: object, **options: object) -> object:
        return look_up("127.0.0.1", *args, **options)  # type: ignore[arg-type]

    with patch("socket.getaddrinfo", find):
        yield


async def store_from(store: Store, site: Site, page: PageOfWeb, statement: str, *, subject_id: str) -> str:
    """Fetch a page at its address and store a statement that stands in it; the id of the fact it is a source of."""
    parts = urlsplit(page.url)
    port = urlsplit(site.url).port
    address = page.url.replace(f"{parts.scheme}://{parts.netloc}", f"http://{parts.netloc}:{port}", 1)
    site.answers["/robots.txt"] = lambda request: web.Response(status=404)
    site.answers[parts.path or "/"] = lambda request: web.Response(text=page.html, content_type="text/html")
    with names_of_loopback():
        await fetch_page(store, address)
    receipt = await store_knowledge(
        store, content=statement, quote=statement, subject_id=subject_id, source_url=address, source_score=0.6,
        topic_path="a/b", confidence=0.9,
    )  # fmt: skip
    return receipt["fact_id"]
