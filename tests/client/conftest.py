from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from support.client_shells import Shell

from chiron_api.client import AsyncChiron, Chiron

Connect = Callable[..., Shell]


@pytest.fixture(params=[Chiron, AsyncChiron])
async def connect(request: pytest.FixtureRequest) -> AsyncIterator[Connect]:
    """`connect(base_url, key)`: a client of either kind, which the test's end closes."""
    shells: list[Shell] = []

    def opened(*args: Any, **options: Any) -> Shell:
        shells.append(Shell(request.param(*args, **options)))
        return shells[-1]

    yield opened
    for shell in shells:
        await shell.close()
