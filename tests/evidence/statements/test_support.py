import pytest

from chiron_workers.evidence.statements.support import judge_by_rules, repeats
from chiron_workers.evidence.statements.wording import is_verbatim
from chiron_workers.states import Verdict

QUOTE = "The tower is 330 m tall. It was finished in 1889 and is repainted every seven years."


@pytest.mark.parametrize(
    ("statement", "quote"),
    [
        ("The tower is 330 m tall.", QUOTE),
        ("The tower is 330 metres tall.", QUOTE),
        ("The tower is 330 m tall. It was finished in 1889 and is repainted every seven years.", QUOTE),
        ("Der Turm ist 330 m hoch.", "Der Turm ist 330 m hoch. Er wird alle sieben Jahre gestrichen."),
        ("塔高330米。", "塔高330米。"),
        ("Water boils at 100 °C.", "4. Water boils at 100 °C."),
        ("Water boils at 100 °C.", "Ice melts at 0 °C. [1] Water boils at 100 °C."),
        ("Water boils at 100 °C.", "¹ Water boils at 100 °C."),
        ("Water boils at 100 °C.", "• Water boils at 100 °C."),
        ("Wasser siedet bei 100 °C.", "- Wasser siedet bei 100 °C."),
        ("4. Water boils at 100 °C.", "4. Water boils at 100 °C."),
    ],
)
def test_a_statement_in_the_quotes_own_words_is_repeated_and_never_supported(
    statement: str, quote: str
) -> None:
    assert repeats(statement, quote)
    assert judge_by_rules(statement, quote) is None


@pytest.mark.parametrize(
    ("statement", "quote", "expected"),
    [
        ("The tower is 330 m tall.", QUOTE, True),
        ("the tower  is 330 m tall", QUOTE, True),
        ("The tower is 330 metres tall.", QUOTE, False),
        ("The tower is tall.", QUOTE, False),
        ("It works.", "Critics say that it works.", False),
        ("Water boils at 100 °C.", "• Water boils at 100 °C.", True),
        ("塔高330米。", "塔高330米。它很高。", True),
        ("", QUOTE, False),
    ],
)
def test_is_verbatim_says_whether_whole_sentences_are_the_same(
    statement: str, quote: str, *, expected: bool
) -> None:
    assert is_verbatim(statement, quote) is expected


@pytest.mark.parametrize(
    ("statement", "quote", "difference"),
    [
        ("The tower is 324 m tall.", QUOTE, "324 m against 330 m"),
        ("The drug is effective.", "The drug is not effective.", "not"),
        ("The drug is not effective.", "The drug is effective.", "not"),
        ("The hook runs after the commit.", "The hook runs before the commit.", "after"),
        ("The capital is Sydney.", "The capital is Canberra.", "sydney against canberra"),
        ("Water boils at 90 °C.", "4. Water boils at 100 °C.", "90 °C against 100 °C"),
        (
            "Electrons flow from the copper to the zinc.",
            "Electrons flow from the zinc to the copper.",
            "from",
        ),
    ],
)
def test_a_statement_that_cannot_be_true_beside_its_quote_is_contradicted(
    statement: str, quote: str, difference: str
) -> None:
    finding = judge_by_rules(statement, quote)
    assert finding is not None
    assert finding.verdict is Verdict.CONTRADICTED
    assert difference in finding.reason


@pytest.mark.parametrize(
    ("statement", "quote", "figure"),
    [
        ("The tower was sold for 12,000 francs.", QUOTE, "12,000"),
        ("About 40 % of the patients recovered within a week.", "Most patients recovered.", "40 %"),
        ("Der Umsatz stieg um 12 Prozent.", "Der Umsatz stieg deutlich.", "12"),
    ],
)
def test_a_figure_that_the_quote_does_not_show_leaves_a_statement_partly_supported(
    statement: str, quote: str, figure: str
) -> None:
    finding = judge_by_rules(statement, quote)
    assert finding is not None
    assert finding.verdict is Verdict.PARTLY
    assert figure in finding.reason


@pytest.mark.parametrize(
    ("statement", "quote", "context"),
    [
        ("Visitors can ride up the tower.", "The tower has a lift.", ""),
        ("Revenue in 2020 was 7 million euros.", "Revenue was 7 million euros.", "Results for 2020"),
        ("Coffee stunts growth.", "Coffee stunts growth.", "Critics claim:"),
        (
            "The firm earned 25 million.",
            "The firm earned 20 million. A year later the firm earned 25 million.",
            "",
        ),
        ("5 km is the length.", "4. 5 km is the length.", ""),
        ("Dezember 1999 war ein kalter Monat.", "4. Dezember 1999 war ein kalter Monat.", ""),
        ("Bundesliga is the second tier.", "2. Bundesliga is the second tier.", ""),
        ("C is radioactive.", "¹⁴C is radioactive.", ""),
        ("", QUOTE, ""),
        ("The tower is tall.", "word " * 2_000, ""),
    ],
)
def test_what_words_alone_do_not_settle_stays_open(statement: str, quote: str, context: str) -> None:
    assert judge_by_rules(statement, quote, context) is None


def test_what_the_source_may_take_back_is_in_doubt() -> None:
    finding = judge_by_rules("Coffee stunts growth.", "Coffee stunts growth.", "Five myths about coffee")
    assert finding is not None
    assert finding.verdict is Verdict.PARTLY
    assert "Five myths" in finding.reason


@pytest.mark.parametrize(
    ("statement", "context"),
    [
        ("Coffee stunts growth.", "Effects of coffee"),
        ("That coffee stunts growth is a myth.", "Five myths about coffee"),
    ],
)
def test_a_statement_that_tells_the_denial_itself_is_not_in_doubt(statement: str, context: str) -> None:
    assert judge_by_rules(statement, "Coffee stunts growth.", context) is None


@pytest.mark.parametrize(
    ("statement", "is_doubted"),
    [
        ("Sales were 4,210 millions of yen in 2021.", False),
        ("Sales were 4,210 million yen in 2021.", False),
        ("The share was 4.1 % in 2021.", False),
        ("Sales were 4,210 thousands of yen in 2021.", True),
        ("Sales were 4,211 millions of yen in 2021.", True),
    ],
)
def test_the_unit_of_a_figure_may_stand_in_the_window_around_its_cell(
    statement: str, is_doubted: bool
) -> None:
    quote, window = "2021 | 4,210 | 4.1", "Sales in millions of yen, share in %\n\nYear | Sales | Share"
    assert judge_by_rules(statement, quote) is not None
    assert (judge_by_rules(statement, quote, window=window) is not None) is is_doubted
