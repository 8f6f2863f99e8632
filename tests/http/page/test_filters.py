"""What strangers wrote, as the page writes it."""

import pytest

from chiron_api.http.page.filters import host, is_web, plural
from chiron_api.text import duration


@pytest.mark.parametrize(
    "address",
    ["http://[", "http://[::1", "https://[x]/a", "//[", "http://a\u2100b/", "javascript:alert(1)", ""],
)
def test_an_address_that_is_none_is_shown_as_text(address: str):
    assert host(address) == address
    assert not is_web(address)


def test_a_count_has_its_noun_and_thin_spaces_between_thousands():
    assert [plural(1, "run"), plural(2, "run"), plural(12_000, "run")] == [
        "1 run",
        "2 runs",
        "12\u202f000 runs",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (7, "7s"),
        (192, "3m 12s"),
        (7_500, "2h 05m"),
        (172_799, "47h 59m"),
        (172_800, "2d 0h"),
        (11_617_980, "134d 11h"),
    ],
)
def test_a_time_span_is_told_in_two_units_that_people_grasp(seconds: float, words: str):
    assert duration(seconds) == words
