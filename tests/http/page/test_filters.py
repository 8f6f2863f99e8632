"""What strangers wrote, as the page writes it."""

import pytest

from chiron_api.http.page.filters import host, is_web, plural


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
