"""What kind of source an address is, and that no other address passes for it."""

from pathlib import Path

import pytest

from chiron_workers.evidence.source_kinds import BANDS, TABLE, bound, read_table, recognise
from chiron_workers.states import SourceKind

ACADEMIC, OFFICIAL, EXPERT = SourceKind.ACADEMIC, SourceKind.OFFICIAL, SourceKind.EXPERT
GENERAL, USERS, OWN, UNKNOWN = (
    SourceKind.GENERAL,
    SourceKind.USER_GENERATED,
    SourceKind.OWN,
    SourceKind.UNKNOWN,
)


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://arxiv.org/abs/1706.03762", ACADEMIC),
        ("https://doi.org/10.1038/nature14539", ACADEMIC),
        ("https://www.nature.com/articles/nature14539", ACADEMIC),
        ("https://pubmed.ncbi.nlm.nih.gov/123/", ACADEMIC),
        ("https://plato.stanford.edu/entries/truth/", ACADEMIC),
        ("https://www.nature.com/articles/d41586-024-00001-1", EXPERT),
        ("https://www.cdc.gov/flu/", OFFICIAL),
        ("https://www.legislation.gov.uk/ukpga/2018/12", OFFICIAL),
        ("https://docs.python.org/3/library/asyncio.html", OFFICIAL),
        ("https://www.kernel.org/doc/html/latest/", OFFICIAL),
        ("https://www.rfc-editor.org/rfc/rfc9110", OFFICIAL),
        ("https://datatracker.ietf.org/doc/html/rfc9110", OFFICIAL),
        ("https://datatracker.ietf.org/doc/html/draft-somebody-idea-00", EXPERT),
        ("https://www.w3.org/TR/html/", OFFICIAL),
        ("https://www.iso.org/standard/1.html", OFFICIAL),
        ("https://www.postgresql.org/docs/18/", OFFICIAL),
        ("https://www.postgresql.org/message-id/1", USERS),
        ("https://cs.stanford.edu/news", EXPERT),
        ("https://cs.stanford.edu/~student/essay", GENERAL),
        ("https://www.academia.edu/1/My_theory", GENERAL),
        ("https://www.ox.ac.uk/news", EXPERT),
        ("https://lwn.net/Articles/1/", EXPERT),
        ("https://de.wikipedia.org/wiki/Mond", GENERAL),
        ("https://en.wikipedia.org/wiki/Talk:Moon", USERS),
        ("https://github.com/python/cpython", GENERAL),
        ("https://github.com/python/cpython/blob/main/README.rst", GENERAL),
        ("https://github.com/python/cpython/issues/1", USERS),
        ("https://github.com/python/cpython/pull/1", USERS),
        ("https://alice.github.io/", GENERAL),
        ("https://stackoverflow.com/questions/1", USERS),
        ("https://old.reddit.com/r/moon", USERS),
        ("https://x.com/moon/status/1", USERS),
        ("https://medium.com/@moon/why", GENERAL),
        ("corpus://moon/paper.pdf", OWN),
        ("file:///home/me/paper.pdf?page=2", OWN),
        ("http://127.0.0.1:8000/page", OWN),
        ("http://[::1]/page", OWN),
        ("http://192.168.1.7/wiki", OWN),
        ("http://8.8.8.8/", UNKNOWN),
        ("https://example.org/", UNKNOWN),
        ("The Book of the Moon, 1987", UNKNOWN),
        ("gopher://arxiv.org/", UNKNOWN),
        ("", UNKNOWN),
    ],
)
def test_an_address_tells_the_kind_of_its_source(url: str, kind: SourceKind) -> None:
    assert recognise(url) is kind


@pytest.mark.parametrize(
    "url",
    [
        "https://fakenature.com/articles/1",
        "https://nature.com.evil.example/",
        "https://nature.com@evil.example/",
        "https://evil.example/nature.com/articles",
        "https://evil.example/?u=https://arxiv.org/abs/1",
        "https://evil.example/#arxiv.org",
        "https://evil.example\\.nature.com/",
        "https://evil.example%2f.nature.com/",
        "https://nature-com.translate.goog/",
        "https://nature.com.",
        "https://nаture.com/",  # the second letter is Cyrillic
        "https://gov.com/",
        "https://notgov/",
        "https://my.gov.example/",
        "https://ac.uk.evil.example/",
        "https://docs.evil.example/",
        "https://web.archive.org/web/2020/https://www.nature.com/articles/1",
        "https://fedex.com/",
    ],
)
def test_no_other_host_passes_for_one_of_the_table(url: str) -> None:
    assert recognise(url) in {UNKNOWN, GENERAL} or url == "https://nature.com."


def test_a_dot_at_the_end_of_a_host_and_letters_of_any_size_change_nothing() -> None:
    assert recognise("https://www.Nature.COM./articles/1") is ACADEMIC
    assert recognise("HTTPS://GitHub.com/Python/CPython/Issues/1") is USERS


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/a/b/x/../issues/1",
        "https://github.com/a/b/%69ssues/1",
        "https://github.com/a/b//issues/1",
        "https://github.com/a/b/./issues/1",
        "https://learn.microsoft.com/docs/../en-us/answers/1",
    ],
)
def test_a_path_is_walked_as_its_server_walks_it(url: str) -> None:
    assert recognise(url) is USERS


@pytest.mark.parametrize(
    ("kind", "score", "bounded"),
    [
        (ACADEMIC, 0.95, 0.95),
        (ACADEMIC, 0.2, 0.9),
        (USERS, 1.0, 0.4),
        (USERS, 0.3, 0.3),
        (UNKNOWN, 1.0, 0.6),
        (UNKNOWN, 0.1, 0.1),
        (OWN, 1.0, 1.0),
        (OWN, 0.1, 0.1),
    ],
)
def test_a_score_is_moved_within_the_band_of_its_kind(kind: SourceKind, score: float, bounded: float) -> None:
    assert bound(kind, score) == bounded
    assert set(BANDS) == set(SourceKind)


def test_a_table_of_ones_own_goes_before_the_one_that_ships(tmp_path: Path) -> None:
    file = tmp_path / "kinds.toml"
    file.write_text(
        'official = ["github.com/psycopg", "Bücher.example"]\nown = ["wiki.firm.example", "10.0.0.7"]\n'
        'general = ["nature.com"]\nunknown = ["edu"]\n'
    )
    table = read_table(file)
    assert recognise("https://github.com/psycopg/psycopg/issues/1", table) is OFFICIAL
    assert recognise("https://github.com/python/cpython", table) is GENERAL
    assert recognise("https://www.bücher.example/", table) is OFFICIAL
    assert recognise("https://wiki.firm.example/page", table) is OWN
    assert recognise("https://www.nature.com/articles/1", table) is GENERAL
    assert recognise("https://mit.edu/", table) is UNKNOWN
    assert recognise("https://arxiv.org/abs/1", table) is ACADEMIC


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("academic = [", "is no TOML"),
        ('scholarly = ["a.org"]', "'scholarly' is no kind of source; the kinds are academic, official"),
        ('expert = "a.org"', "expert: must be a list of patterns"),
        ("expert = [7]", "expert: must be a host that may have a path"),
        ('expert = ["https://a.org"]', "(got 'https://a.org')"),
        ('expert = ["*.a.org"]', "(got '*.a.org')"),
        ('expert = ["a.org:80"]', "(got 'a.org:80')"),
        ('expert = ["me@a.org"]', "(got 'me@a.org')"),
        ('expert = [""]', "(got '')"),
        ('expert = ["a.org//b"]', "(got 'a.org//b')"),
        ('expert = ["a.org/b?c"]', "(got 'a.org/b?c')"),
        ('expert = ["a.org"]\ngeneral = ["A.org/"]', "'a.org' is both expert and general"),
    ],
)
def test_a_wrong_table_is_refused_with_what_is_wrong(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "kinds.toml"
    file.write_text(text)
    with pytest.raises(ValueError) as refusal:
        read_table(file)
    assert problem in str(refusal.value)
    assert str(file) in str(refusal.value)


def test_a_table_that_is_missing_or_huge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        read_table(tmp_path / "none.toml")
    (tmp_path / "huge.toml").write_text("#" * 1_000_001)
    with pytest.raises(ValueError, match="has more than 1,000,000 bytes"):
        read_table(tmp_path / "huge.toml")


def test_the_table_that_ships_names_each_kind_of_the_mission() -> None:
    text = TABLE.read_text()
    assert all(f"\n{kind} = [" in text for kind in SourceKind if kind not in {OWN, UNKNOWN})
    read_table(TABLE)
