from collections.abc import AsyncIterator, Callable

import pytest
from support.scripted_sites import Site, serving


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving() as opened:
        yield opened


@pytest.fixture
async def index() -> AsyncIterator[Site]:
    """What stands in for Crossref and OpenAlex."""
    async with serving("127.0.0.3") as opened:
        yield opened


@pytest.fixture(autouse=True)
def on_loopback(setting: Callable[[str, str], None], index: Site) -> None:
    setting("FETCH_PRIVATE", "true")
    setting("FETCH_PAUSE_S", "0")
    setting("CROSSREF_URL", f"{index.url}/crossref")
    setting("OPENALEX_URL", f"{index.url}/openalex")
    setting("MAILTO", "librarian@example.org")
