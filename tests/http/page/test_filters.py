"""What strangers wrote, as the page writes it."""

import pytest

from chiron_api.http.page.filters import host, is_web


@pytest.mark.parametrize(
    "address",
    ["http://[", "http://[::1", "https://[x]/a", "//[", "http://a\u2100b/", "javascript:alert(1)", ""],
)
def test_an_address_that_is_none_is_shown_as_text(address: str):
    assert host(address) == address
    assert not is_web(address)
