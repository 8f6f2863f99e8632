"""Counting wrong keys by address."""

import pytest

from chiron_api.http.guesses import GUESSES_MAX, Guesses
from chiron_workers.errors import RateExceeded


def guess(guesses: Guesses, address: str, *, times: int = GUESSES_MAX) -> None:
    for n in range(times):
        guesses.add(address, f"wrong{n}")


def test_guesses_count_each_address_alone_and_forget_the_oldest(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("chiron_api.http.guesses.ADDRESSES_MAX", 2)
    guesses = Guesses()
    guess(guesses, "a")
    assert guesses.wait_s("a") > 0
    assert guesses.wait_s("b") == 0
    for address in "bc":
        guesses.add(address, "wrong")
    assert guesses.wait_s("a") == 0


def test_guesses_count_a_network_of_ipv6_as_one_address():
    guesses = Guesses()
    for n in range(GUESSES_MAX):
        guesses.add(f"2001:db8:0:1::{n:x}", f"wrong{n}")
    assert guesses.wait_s("2001:db8:0:1:ffff::") > 0
    assert guesses.wait_s("2001:db8:0:2::") == 0
    guess(guesses, "fe80::1%eth0")
    assert guesses.wait_s("fe80::2%eth0") > 0
    guess(guesses, "a:b")  # not an address
    assert guesses.wait_s("a:b") > 0


def test_guesses_count_each_wrong_key_once_a_minute(monkeypatch: pytest.MonkeyPatch):
    guesses = Guesses()
    guess(guesses, "office", times=GUESSES_MAX - 1)
    for _ in range(GUESSES_MAX):
        guess(guesses, "office", times=1)
    assert guesses.wait_s("office") == 0
    guesses.add("office", "another")
    assert guesses.wait_s("office") > 0
    monkeypatch.setattr("chiron_api.http.guesses.WITHIN_S", 0.0)
    guess(guesses, "office")
    monkeypatch.undo()
    assert guesses.wait_s("office") > 0


def test_guesses_count_ipv4_addresses_in_the_notation_of_ipv6_apart():
    guesses = Guesses()
    guess(guesses, "::ffff:203.0.113.7")
    assert guesses.wait_s("203.0.113.7") > 0
    assert guesses.wait_s("::ffff:203.0.113.8") == 0


def test_guesses_let_a_key_through_that_was_right_at_its_address(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("chiron_api.http.guesses.RIGHT_KEYS_MAX", 2)
    guesses = Guesses()
    guesses.remember("office", "right")
    for address in ("office", "elsewhere"):
        guess(guesses, address)
    guesses.require_room("office", "right")
    for address, key in (("office", "another"), ("elsewhere", "right")):
        with pytest.raises(RateExceeded, match="Too many wrong keys") as refusal:
            guesses.require_room(address, key)
        assert 1 <= refusal.value.retry_after_s <= 60
    for key in ("second", "third"):
        guesses.remember("office", key)
    with pytest.raises(RateExceeded):
        guesses.require_room("office", "right")
