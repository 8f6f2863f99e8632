"""Servers of these tests are forked where nobody tests their start, and are looked at again soon."""

from collections.abc import Iterator

import pytest
from support.forked_children import forked_children

from chiron_workers.mcp_client import server


@pytest.fixture(autouse=True)
def quick_servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Honest servers as forks, and short pauses before a server is tried or its list is read again."""
    monkeypatch.setattr(server, "BACKOFF_MIN_S", 0.05)
    monkeypatch.setattr(server, "RELIST_MIN_S", 0.05)
    with forked_children():
        yield
