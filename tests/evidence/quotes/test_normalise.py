import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chiron_workers.evidence.quotes.equivalents import equivalents, expansions
from chiron_workers.evidence.quotes.normalise import normalise


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a \n\t\u00a0\u2009 b", "a b"),
        ("in\u200bvis\u00adi\u2060ble", "invisible"),
        ("“so” ‘it’ is’s", "\"so\" 'it' is's"),
        ("well\u2011known 5–10 −3", "well-known 5-10 -3"),
        ("then — so—then -- so--then – so", "then—so—then—so—then—so"),
        ("eﬃcient ﬁnd", "efficient find"),
        ("cafe\u0301 Å", "café Å"),
        ("한국", unicodedata.normalize("NFD", "한국")),
        ("Ｃｈｉｒｏｎ，１", "Chiron,1"),
        ("20\u00a0% and 5 ‰", "20% and 5‰"),
        ("p < 0.05, r = 0.3", "p<0.05, r=0.3"),
        ("1.01 × 10^5 Pa", "1.01×10⁵ Pa"),
        ("10^{-3}, 10^(−3)", "10⁻³, 10⁻³"),
        ("CO₂ and Ca(OH)₂, C₆H₁₂O₆", "CO_2 and Ca(OH)_{2}, C_6H_12O_6"),
        ("CO₂ and x₁", "CO2 and x1"),
        ("so… on", "so... on"),
        ("COVID-\n19 Anglo-\nSaxon", "COVID-19 Anglo-Saxon"),
        ("``so''", '"so"'),
        ("5 µm 𝑝", "5 μm p"),
        ("All is\n> well.\n\n> > Is it?", "All is well. Is it?"),
    ],
)
def test_what_reads_the_same_folds_to_the_same(one: str, other: str):
    assert normalise(one).text == normalise(other).text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10²", "102"),
        ("10^5", "105"),
        ("10⁵", "105"),
        ("m^2", "m2"),
        ("10₂", "102"),
        ("file_2", "file2"),
        ("bzip₂", "bzip2"),
        ("2^3.5", "2³.5"),
        ("x^2y", "x²y"),
        ("−5", "5"),
        ("—5", "5"),
        ("½", "1/2"),
        ("٣", "3"),
        ("𝟑", "3"),
        ("①", "1"),
        ("Polish", "polish"),
        ("a≠b", "a=b"),
        ("well-known", "wellknown"),
        ("3-\n5", "35"),
        ("5′", "5″"),
        ("а", "a"),
        ("é", "e"),
    ],
)
def test_what_means_something_else_does_not(one: str, other: str):
    assert normalise(one).text != normalise(other).text


def test_no_character_becomes_or_loses_a_digit():
    spelt, _ = expansions()
    read = {chr(code): chr(same) for code, same in enumerate(equivalents().tolist()) if code != same} | spelt
    changed = [letter for letter, same in read.items() if any(map(str.isnumeric, same)) != letter.isnumeric()]
    assert all(unicodedata.normalize("NFC", letter) == read[letter] for letter in changed), changed


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_folded_character_knows_where_it_stood(text: str):
    folded = normalise(text)
    ends = 0
    for at in range(len(folded.text)):
        start, end = folded.span(at, at + 1)
        assert 0 <= start < end <= len(text)
        assert start >= ends or (start, end) == folded.span(at - 1, at)
        ends = max(ends, start)


@given(st.text(st.sampled_from("ab1 ,;:.!?()/'")))
def test_a_plain_text_reads_as_it_does_with_what_is_not_plain_behind_it(text: str):
    folded, beside = normalise(text), normalise(text + "é")
    assert folded.text + "é" == beside.text
    assert [*folded.begins, len(text)] == [*beside.begins]
    assert [*folded.ends, len(text) + 1] == [*beside.ends]


@pytest.mark.timeout(30)
def test_accents_without_end_are_folded_in_good_time():
    marks = "".join(random.Random(3).choices("\u0301\u0316\u0327", k=500_000))
    assert normalise("a" + marks).text
