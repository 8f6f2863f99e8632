"""A web site on loopback: every address is a page of its own, the same each time, whose sentences resemble no other's.

`uv run python benchmarks/scripted_site.py` prints its address and serves until it is ended. Its words are those of the embedding
model's vocabulary, drawn at random, so that facts of its pages lie apart and no model is asked how they stand to each other.
"""

import asyncio
import random
import signal
from functools import cache

import uvloop
from aiohttp import web

from chiron_api.local_stack.ports import free_port
from chiron_workers.embeddings.minilm import VOCABULARY

SENTENCES = 14  # with 100 characters each: 1.4 KB of text
WORDS = 12  # of a sentence
PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title><link rel="stylesheet" href="/style.css"></head>
<body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/about">About</a></li><li><a href="/index">Index</a></li></ul></nav>
<main><article><h1>{title}</h1>
{paragraphs}
</article></main>
<footer><p>Pages for a benchmark.</p></footer>
</body>
</html>
"""


@cache
def vocabulary() -> list[str]:
    """English words of five letters and more."""
    words = VOCABULARY.read_text(encoding="utf-8").split("\n")
    return [word for word in words if word.isascii() and word.isalpha() and len(word) > 4]


def sentences(path: str) -> list[str]:
    """What the page of a path says."""
    chance = random.Random(path)
    return [f"{' '.join(chance.sample(vocabulary(), WORDS)).capitalize()}." for _ in range(SENTENCES)]


def page(path: str) -> str:
    """The HTML of a path, in paragraphs of two sentences."""
    said = sentences(path)
    paragraphs = (f"<p>{' '.join(said[n : n + 2])}</p>" for n in range(0, len(said), 2))
    return PAGE.format(title=path.strip("/").replace("/", " "), paragraphs="\n".join(paragraphs))


async def answer(request: web.Request) -> web.Response:
    if request.path == "/robots.txt":
        return web.Response(status=404)
    return web.Response(text=page(request.path), content_type="text/html")


async def serve() -> None:
    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=300)
    await runner.setup()
    port, ended = free_port(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    await web.TCPSite(runner, "127.0.0.1", port, backlog=2_048).start()
    print(f"http://127.0.0.1:{port}", flush=True)
    await ended.wait()
    await runner.cleanup()


if __name__ == "__main__":
    uvloop.run(serve())
