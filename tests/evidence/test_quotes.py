import pytest

from chiron_workers.evidence.quotes import locate, refusal

PAGE = (
    "Trials\n\nThe drug was not effective in 12.5\u00a0% of cases. It lost −5 points; the infor-\nmation is “well-known” in "
    "well-\nknown places. The ﬁrst efﬁcient cafe\u0301 cost 1,500.75 USD — and more. 10² m² fell by 5% to -3."
)


def test_a_quote_is_extended_to_its_whole_sentence():
    standing = locate("effective in 12.5 % of", PAGE)
    assert standing is not None
    assert standing.quote == "The drug was not effective in 12.5\u00a0% of cases."
    assert PAGE[standing.start : standing.end] == standing.quote


@pytest.mark.parametrize(
    "quote",
    [
        "It lost -5 points; the information is",
        "points; the infor-\nmation is",
        'the information is "well-known" in well-known places.',
        "The first efficient café cost 1,500.75 USD—and more",
        "is &ldquo;well-known&rdquo; in well&#8211;known places",
        "the drug was not effective",
    ],
)
def test_what_typesetting_changes_does_not_matter(quote: str):
    assert locate(quote, PAGE) is not None


@pytest.mark.parametrize(
    "quote",
    [
        "The drug was effective in 12.5 % of cases.",
        "The drug was not effective in 12",
        "It lost 5 points; the information",
        "the information is wellknown in",
        "The first efficient cafe cost",
        "café cost 1,500",
        "102 m2 fell by 5% to -3.",
        "10² m² fell by 5",
        "10² m² fell by 5% to 3.",
        "The drug was not ... effective",
        "effective",
        "12.5 %",
    ],
)
def test_what_changes_the_meaning_is_refused(quote: str):
    assert locate(quote, PAGE) is None
    assert refusal(quote, PAGE)
