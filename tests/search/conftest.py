from collections.abc import Callable, Iterator

import pytest

from chiron_workers.settings import settings as settings_of_process

Setting = Callable[[str, str], None]


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Setting]:
    """`setting("SEARCH", "brave")`: this process's settings as the environment would set them."""

    def change(name: str, value: str) -> None:
        monkeypatch.setenv(f"CHIRON_{name}", value)
        settings_of_process.cache_clear()

    yield change
    settings_of_process.cache_clear()
