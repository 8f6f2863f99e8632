import signal
from collections.abc import Iterator

import pytest

from chiron_api.cli import end_as_by_ctrl_c


@pytest.fixture
def as_it_was() -> Iterator[None]:
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("as_it_was")
def test_a_command_ends_by_sigterm_as_by_ctrl_c_and_goes_on_under_nohup() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    end_as_by_ctrl_c()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
