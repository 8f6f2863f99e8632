import pytest

from chiron_api.reports.links import link


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.org/x?y=1#z", "https://a.org/x?y=1#z"),
        ("HTTP://a.org/ü", "HTTP://a.org/%C3%BC"),
        ("https://a.org/a%20b", "https://a.org/a%20b"),
        ("https://a.org/5%%20%zz%", "https://a.org/5%25%20%25zz%25"),
        ('https://a.org/"><script>', "https://a.org/%22%3E%3Cscript%3E"),
        ("file:///home/me/a.md", "file:///home/me/a.md"),
        ("https://a.org/\\x", "https://a.org/%5Cx"),
    ],
)
def test_pages_and_files_become_links(url, expected):
    assert link(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,<script>",
        "vbscript:x",
        "file://server/share/x",
        "file:////server/share",
        "corpus://birds/ducks.md",
        "https://",
        "https://a.org\\@b.org",
        "https://[::1",
        "https://a.org:99999999/",
        "https://a.org/a b",
        "ftp://a.org/x",
        "",
        "nonsense",
    ],
)
def test_nothing_else_does(url):
    assert link(url) is None
