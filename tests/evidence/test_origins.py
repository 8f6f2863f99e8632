import random

import numpy as np
import pytest

from chiron_workers.evidence.copies import copy_pairs, minhash
from chiron_workers.evidence.origins import Assertion, group_origins, origin_name

WORDS = [f"word{n}" for n in range(3_000)]


def article(seed: int, words: int = 600) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.bbc.co.uk/news/1", "bbc.co.uk"),
        ("https://en.wikipedia.org/wiki/Moon", "wikipedia.org"),
        ("http://alice.github.io/", "alice.github.io"),
        ("http://bob.github.io/", "bob.github.io"),
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
    first, copied = minhash(body), minhash(f"{article(2, 80)} {body} {article(3, 120)}")
    other = minhash(article(4))
    assert copy_pairs([first, copied, other]) == [(1, 0)]
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
    one, other = minhash(article(1)), minhash(article(2))
    found = group_origins(
        [
            Assertion("https://a.com/1", 0.5, True, one),
            Assertion("https://b.com/1", 0.6, True, other),
            Assertion("https://b.com/2", 0.7, True, one),
        ]
    )
    assert len(found) == 1


def test_an_estimate_is_near_the_share_of_common_runs() -> None:
    half = article(5, 400)
    one, other = minhash(f"{half} {article(6, 200)}"), minhash(f"{half} {article(7, 200)}")
    shares = [
        float(np.mean(np.frombuffer(one, "<u4") == np.frombuffer(text, "<u4"))) for text in (other, one)
    ]
    assert shares == [pytest.approx(0.5, abs=0.15), 1]


def test_texts_without_words_and_huge_ones_have_signatures() -> None:
    assert len(minhash("")) == len(minhash("…")) == len(minhash("x " * 3_000_000)) == 512
