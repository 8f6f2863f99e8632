"""A page makes a word public that stands on it, unless it lists all that the word could be."""

from datetime import date, timedelta
from itertools import product
from string import ascii_lowercase

import pytest

from chiron_workers.evidence.disclosures.listings import PublicWords, shapes_of
from chiron_workers.evidence.disclosures.rare_words import all_words

DAYS = [date(1940, 1, 1) + timedelta(days=n) for n in range(0, 25_000)]


def private_after(words: set[str], *pages: str) -> set[str]:
    public_words = PublicWords(words)
    for page in pages:
        public_words.add_page(all_words(page))
    return public_words.private_words()


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("4711", " ".join(f"{n:04}" for n in range(10_000))),
        ("4711", ", ".join(f"{n}" for n in range(4_000, 5_000))),
        ("48213", " ".join(f"{n:05}" for n in range(100_000))),
        ("482133", " ".join(f"{n:06}" for n in range(470_000, 500_000))),
        ("19480521", " ".join(f"{day:%Y-%m-%d}" for day in DAYS)),
        ("21051948", " ".join(f"{day:%d.%m.%Y}" for day in DAYS)),
        ("210548", " ".join(f"{day:%d%m%y}" for day in DAYS)),
        ("qzxv", " ".join(map("".join, product("qzxvab" + ascii_lowercase[2:14], repeat=4)))),
        ("a1b2", " ".join(map("".join, product("abcdefghij0123456789", "0123456789", "abcdefghij", "0123456789", ))) + " "
         + " ".join(map("".join, product("klmnopqrst", "0123456789", "abcdefghijklmnopqrstuv", "0123456789")))),
    ],
    ids=["PINs", "a tenth of the PINs", "five digits", "six digits", "dates", "other dates", "short dates", "letters", "both"],
)  # fmt: skip
def test_a_list_of_all_makes_nothing_public(word, page):
    assert word in all_words(page)
    assert private_after({word}, page) == {word}


def test_a_list_that_is_spread_over_pages_is_a_list():
    pages = [" ".join(f"{n:04}" for n in range(start, start + 50)) for start in range(4_500, 5_000, 50)]
    assert private_after({"4711"}, *pages) == {"4711"}
    assert private_after({"4711"}, *pages[3:6]) == set()


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("4711", "Perfume 4711 is made in Cologne, since 1792."),
        (
            "4711",
            "4711 " + " ".join(map(str, range(1_500, 2_101))) + " ".join(map(str, range(0, 10_000, 100))),
        ),
        ("48213377", " ".join(map(str, range(48_213_000, 48_214_000)))),
        ("wyckhorn", "Wyckhorn " + "and other places " * 9_000),
        ("zurn", "Zurn " + " ".join(f"word{n}" for n in range(9_000))),
        ("19480521", "Born 1948-05-21, died 2001-03-02."),
    ],
    ids=["one number", "among years and round numbers", "long numbers", "a name", "a short name", "a date"],
)
def test_a_word_of_another_page_is_public(word, page):
    assert private_after({word, "elsewhere"}, page) == {"elsewhere"}


def test_long_words_have_no_shape_that_can_be_listed():
    assert [list(shapes_of(word)) for word in ("48213377", "kranzberger", "akia9f3kq2lm")] == [[], [], []]
