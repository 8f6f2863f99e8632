import random

import pytest

from chiron_workers.evidence.archives import original_address
from chiron_workers.evidence.copies import Sketch, copy_pairs, sketch
from chiron_workers.evidence.origins import Assertion, address_origin, group_origins
from chiron_workers.evidence.publishers import origin_name
from chiron_workers.evidence.works import Record

WORDS = [f"word{n}" for n in range(3_000)]


def article(seed: int, words: int = 600) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.bbc.co.uk/news/1", "bbc.co.uk"),
        ("https://en.wikipedia.org/wiki/Moon", "wikipedia.org"),
        ("http://alice.github.io/", "github.com/alice"),
        ("http://bob.github.io/", "github.com/bob"),
        ("https://EXAMPLE.org.:8443/x", "example.org"),
        ("http://127.0.0.1:8000/x", "127.0.0.1"),
        ("http://[::1]:8000/x", "::1"),
        ("http://localhost/x", "localhost"),
        ("https://www.bücher.de/x", "xn--bcher-kva.de"),
        ("https://bbc。co。uk/x", "bbc.co.uk"),
        ("https://[bad/", "https://[bad/"),
        ("corpus://moon/a.md", "corpus://moon/a.md"),
        ("file:///data/a.pdf", "file:///data/a.pdf"),
    ],
)
def test_an_origin_is_a_registrable_domain_or_a_document_of_ones_own(url: str, name: str) -> None:
    assert origin_name(url) == name


def test_a_syndicated_copy_counts_once_whatever_stands_around_it() -> None:
    body = article(1)
    first, copied = sketch(body), sketch(f"{article(2, 80)} {body} {article(3, 120)}")
    other = sketch(article(4))
    assert copy_pairs([Sketch.of(data) for data in (first, copied, other)]) == [(1, 0)]
    found = group_origins(
        [
            Assertion("https://agency.com/1", 0.6, True, first),
            Assertion("https://paper.net/2", 0.8, True, copied),
            Assertion("https://scholar.org/3", 0.9, True, other),
        ]
    )
    assert [(origin.names, origin.score) for origin in found] == [
        (("scholar.org",), 0.9),
        (("paper.net", "agency.com"), 0.8),
    ]


def test_the_same_long_passage_in_two_places_was_copied() -> None:
    story = "The agency said on Monday that the probe had reached the orbit of the Moon at noon."
    said = [Assertion(f"https://{name}.com/", 0.5, True, None, story) for name in ("one", "two")]
    short = [
        Assertion(f"https://{name}.com/", 0.5, True, None, "The Moon is round.") for name in ("one", "two")
    ]
    assert (len(group_origins(said)), len(group_origins(short))) == (1, 2)


def test_what_joins_two_groups_makes_them_one() -> None:
    one, other = sketch(article(1)), sketch(article(2))
    found = group_origins(
        [
            Assertion("https://a.com/1", 0.5, True, one),
            Assertion("https://b.com/1", 0.6, True, other),
            Assertion("https://b.com/2", 0.7, True, one),
        ]
    )
    assert len(found) == 1


@pytest.mark.parametrize("words", [300, 1_500, 6_000, 40_000])
def test_a_short_text_is_found_within_a_longer_one(words: int) -> None:
    release = article(8, 70)
    page = f"{article(9, words // 2)} {release} {article(10, words // 2)}"
    texts = [Sketch.of(sketch(text)) for text in (release, page, article(11, words))]
    assert copy_pairs(texts) == [(1, 0)]


def test_a_sentence_that_two_pages_share_makes_no_copy_of_them() -> None:
    sentence = "The Moon has three seas as we think."
    texts = [
        Sketch.of(sketch(text)) for text in (sentence, f"{article(1)} {sentence}", f"{article(2)} {sentence}")
    ]
    assert copy_pairs(texts) == []


def test_a_passage_around_two_quotes_tells_that_one_was_taken_from_the_other() -> None:
    passage = article(3, 30)
    texts = [f"{article(n, 600)} {passage} {article(n + 10, 3_000)}" for n in range(2)]
    sketches = [Sketch.of(sketch(text)) for text in texts]
    places = [text.index(passage) for text in texts]
    near = [(place, place + 40) for place in places]
    far = [(place + 3_000, place + 3_040) for place in places]
    assert [copy_pairs(sketches, quotes) for quotes in (near, far, None)] == [[(1, 0)], [], []]


@pytest.mark.parametrize("own", [8, 15, 300])
@pytest.mark.parametrize("quote", ["", "The bridge over the Fal was opened in 1931."])
def test_a_banner_below_two_quotes_makes_no_copies_of_their_pages(own: int, quote: str) -> None:
    banner = article(50, 60)
    quotes = [quote or article(n + 20, 10) for n in range(2)]
    texts = [f"{article(n, own)} {quotes[n]} {article(n + 10, own)} {banner}" for n in range(2)]
    places = [
        (text.index(words), text.index(words) + len(words)) for text, words in zip(texts, quotes, strict=True)
    ]
    assert copy_pairs([Sketch.of(sketch(text)) for text in texts], places) == []


@pytest.mark.parametrize("offset", [0, 40, 59])
@pytest.mark.parametrize("own", [10, 300, 3_000])
def test_a_copied_passage_is_found_wherever_its_quote_stands_in_it(own: int, offset: int) -> None:
    passage = article(50, 70)
    quote = " ".join(passage.split()[offset : offset + 11])
    texts = [passage, f"{article(1, own)} {passage} {article(2, own)}"]
    places = [(text.index(quote), text.index(quote) + len(quote)) for text in texts]
    sketches = [Sketch.of(sketch(text)) for text in texts]
    assert copy_pairs(sketches, places) == [(1, 0)]
    elsewhere = (0, 40)
    assert copy_pairs(sketches, [places[0], elsewhere]) == [(1, 0)]


@pytest.mark.parametrize("count", [4, 40])
def test_few_and_many_texts_are_compared_alike(count: int) -> None:
    texts = [Sketch.of(sketch(f"{article(n, 300)} {article(n % 2, 400)}")) for n in range(count)]
    pairs = {(n, m) for n in range(count) for m in range(n) if n % 2 == m % 2}
    assert set(copy_pairs(texts)) == pairs


def test_texts_without_words_and_huge_ones_have_sketches() -> None:
    for text in ("", "…", "x " * 3_000_000):
        item = Sketch.of(sketch(text))
        assert len(item.hashes) == len(item.places) <= 1
    assert len(sketch(article(1, 60_000))) < 50_000


@pytest.mark.parametrize(
    ("url", "original"),
    [
        ("https://web.archive.org/web/20200101id_/http://a.org/x?y=1", "http://a.org/x?y=1"),
        ("https://web.archive.org/web/2020*/https%3A%2F%2Fa.org%2Fb", "https://a.org/b"),
        ("https://web.archive.org/web/2020/a.org/b", "http://a.org/b"),
        ("https://archive.is/newest/https://a.org/b", "https://a.org/b"),
        ("https://archive.ph/AbCdE", "https://archive.ph/AbCdE"),
        ("https://archive.org/details/book", "https://archive.org/details/book"),
        ("https://arquivo.pt/wayback/20200101/https://a.org/b", "https://a.org/b"),
        ("https://megalodon.jp/2020-0101-1200-00/a.org/b", "http://a.org/b"),
        (
            "https://webcache.googleusercontent.com/search?q=cache:AbC_dEf123-x:https://a.org/b+w",
            "https://a.org/b",
        ),
        ("https://my--site-org.translate.goog/x?_x_tr_sl=en&page=2", "https://my-site.org/x?page=2"),
        ("https://translate.google.com/translate?sl=en&u=https://a.org/b", "https://a.org/b"),
        ("https://www.google.com/amp/s/a.org/amp/b", "https://a.org/amp/b"),
        ("https://a-org.cdn.ampproject.org/c/s/a.org/b", "https://a.org/b"),
        ("https://web.archive.org/web/2020/https://a-org.translate.goog/b", "https://a.org/b"),
        ("https://archive.ph/2020.01.01-120000/https://a.org/b?c=1", "https://a.org/b?c=1"),
        ("https://wayback.archive-it.org/1234/20200101/https://a.org/b", "https://a.org/b"),
        ("https://webarchive.nationalarchives.gov.uk/ukgwa/20200101/https://a.org/b", "https://a.org/b"),
        ("https://www.webcitation.org/query?url=https://a.org/b&date=2010-01-01", "https://a.org/b"),
        ("https://12ft.io/https://a.org/b", "https://a.org/b"),
        ("https://12ft.io/proxy?q=https://a.org/b", "https://a.org/b"),
        ("https://nature.com.ezproxy.evil.example/b", "https://nature.com.ezproxy.evil.example/b"),
        ("https://[bad/", "https://[bad/"),
    ],
)
def test_what_an_archive_or_a_translator_shows_is_the_page_it_shows(url: str, original: str) -> None:
    assert original_address(url) == original


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://archive.ph/AbCdE?url=https://bbc.com/a", "archive.ph"),
        ("https://archive.ph/AbCdE/https://bbc.com/a", "archive.ph"),
        ("https://archive.org/details/myitem?q=https://bbc.com/x", "archive.org"),
        ("https://archive.org/download/myitem/https:/bbc.com/a.html", "archive.org"),
        ("https://outline.com/Ab?url=https://bbc.com/1", "outline.com"),
        ("https://12ft.io/evil.example/x?y=/https://bbc.com/", "evil.example"),
        ("https://web.archive.org/web/20200101000000/evil.example/x/https://bbc.com/a", "evil.example"),
        ("https://web.archive.org/web/2020/https://evil.example/x?next=/https://bbc.com/a", "evil.example"),
        ("https://web.archive.org/web/2020/https://bbc.com/../../../../../details/myitem", "archive.org"),
        ("https://web.archive.org/web/2020/https://bbc.com/%2e%2e/%2E./x", "archive.org"),
        ("https://translate.google.com/translate?url=https://bbc.com/&u=https://evil.example/", "evil.example"),
        ("https://translate.google.com/translate?u=https://evil.example/&u=https://bbc.com/", "google.com"),
        ("https://www.webcitation.org/5AbCdEf?url=https://bbc.com/", "webcitation.org"),
        ("https://www.webcitation.org/query?id=12345&url=https://bbc.com/", "webcitation.org"),
    ],
)  # fmt: skip
def test_an_address_that_anybody_may_write_into_another_one_tells_no_publisher(url: str, host: str) -> None:
    assert origin_name(url) == host


def test_a_page_of_an_archive_is_one_origin_whatever_is_written_behind_its_address() -> None:
    urls = [
        f"https://archive.ph/AbCdE?url=https://{host}/a" for host in ("reuters.com", "bbc.com", "apnews.com")
    ]
    assert len(group_origins([Assertion(url, 0.6, True) for url in urls])) == 1


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://www.bbc.com/news", "bbc.co.uk"),
        ("https://raw.githubusercontent.com/Alice/moon/main/a.md", "github.com/alice"),
        ("https://github.com/topics/moon", "github.com"),
        ("https://medium.com/p/1a2b", "medium.com"),
        ("https://twitter.com/alice/status/1", "x.com"),
        ("https://alice.s3.eu-west-1.amazonaws.com/moon.html", "alice.s3.eu-west-1.amazonaws.com"),
        ("https://www.nature.com/articles/s41586-020-2649-2", "doi:10.1038/s41586-020-2649-2"),
        ("https://www.nature.com/nature/volumes", "nature.com"),
        ("https://arxiv.org/pdf/2301.00001v2", "doi:10.48550/arxiv.2301.00001"),
        ("https://huggingface.co/papers/2301.00001", "huggingface.co"),
        ("https://www.thelancet.com/journals/lancet/article/PIIS0140-6736(20)30183-5/fulltext", "pii:s0140673620301835"),
        ("https://link-farm.example/doi/10.1234/one", "link-farm.example"),
    ],
)  # fmt: skip
def test_an_address_tells_a_work_where_its_host_carries_works(url: str, origin: str) -> None:
    assert address_origin(url) == origin


def test_a_doi_that_a_host_of_no_works_states_never_makes_two_origins_of_it() -> None:
    """Anybody may write one into a page: it joins sources, and keeps only those of publishers apart."""
    pages = [
        Assertion(f"https://farm.example/{n}", 0.6, True, record=Record(doi=f"10.1234/{n}")) for n in range(9)
    ]
    assert len(group_origins(pages)) == 1


def test_two_works_of_one_publisher_stay_two_beside_what_names_no_work() -> None:
    first = Assertion("https://www.nature.com/articles/s41586-020-2649-2", 0.9, True)
    second = Assertion("https://www.nature.com/articles/s41586-021-03819-2", 0.8, True)
    other = Assertion("https://www.scientificamerican.com/article/moon", 0.6, True)
    origins = group_origins([other, second, first])
    assert [origin.urls for origin in origins] == [(first.url, other.url), (second.url,)]
    assert origins[0].ties == ("the same publisher",)


def test_a_site_that_tells_of_two_works_does_not_make_them_one() -> None:
    works = [Assertion(f"https://doi.org/10.1234/{n}", 0.9, True) for n in range(2)]
    tellers = [
        Assertion(f"https://blog.example/{n}", 0.5, True, quote=f"It is so (doi:10.1234/{n}).")
        for n in range(2)
    ]
    assert [origin.ties for origin in group_origins([*works, *tellers])] == [("the same work",)] * 2


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("10.5281/zenodo.", "https://zenodo.org/records/"),
        ("10.6084/m9.figshare.", "https://figshare.com/articles/dataset/a/"),
        ("10.17605/osf.io/abcd", "https://osf.io/abcd"),
        ("10.17632/abcdefghi", "https://data.mendeley.com/datasets/abcdefghi"),
    ],
)
def test_uploads_of_one_owner_count_once_also_by_their_dois(name: str, url: str) -> None:
    def count(*authors: str) -> int:
        addresses = (f"https://doi.org/{name}1", f"https://doi.org/{name}2", f"{url}3")
        pages = [
            Assertion(address, 0.6, True, record=Record(f"x{n}", (author,)))
            for n, (address, author) in enumerate(zip(addresses, authors, strict=True))
        ]
        return len(group_origins(pages))

    assert [count("Eve Liar", "Liar, Eve", "Eve Liar"), count("Eve Liar", "Jo Park", "Ann Lee")] == [1, 3]
