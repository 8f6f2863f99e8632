from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from support.client_shells import Shell

from chiron_api.client import AsyncChiron, Chiron
from chiron_api.client.flows import patience, requests

Connect = Callable[..., Shell]


@pytest.fixture(params=[Chiron, AsyncChiron])
async def connect(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Connect]:
    """`connect(base_url, key)`: a client of either kind, which the test's end closes; it tries again and looks soon."""
    monkeypatch.setattr(patience, "FIRST_DELAY_S", 0.01)
    monkeypatch.setattr(requests, "FIRST_LOOK_S", 0.02)
    shells: list[Shell] = []

    def opened(*args: Any, **options: Any) -> Shell:
        shells.append(Shell(request.param(*args, **options)))
        return shells[-1]

    yield opened
    for shell in shells:
        await shell.close()
