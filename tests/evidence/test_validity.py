import pytest

from chiron_workers.evidence.validity import ALWAYS, Validity, read_validity


@pytest.mark.parametrize(
    ("statement", "valid_from", "valid_until"),
    [
        ("As of March 2024, the town has 5,000 inhabitants.", "2024-03", None),
        ("The town had 5,000 inhabitants as of 1 March 2024.", "2024-03-01", None),
        ("Since 2019 the law requires a permit.", "2019", None),
        ("The law has required a permit since 15 May 2019.", "2019-05-15", None),
        ("The bridge was closed until 2023.", None, "2023"),
        ("The bridge was closed until the end of 2023.", None, "2023"),
        ("She led the ministry from 2010 to 2015.", "2010", "2015"),
        ("She led the ministry from March 2010 until 4 May 2015.", "2010-03", "2015-05-04"),
        ("She led the ministry from 2010-2015.", "2010", "2015"),
        ("She led the ministry from 2010 – 2015.", "2010", "2015"),
        ("Between 2010 and 2015, she led the ministry.", "2010", "2015"),
        ("She led the ministry between May 2010 and June 2015.", "2010-05", "2015-06"),
        ("From 2019 on, a permit is needed.", "2019", None),
        ("From 1 May 2019 onwards a permit is needed.", "2019-05-01", None),
        ("The licence is valid until 2025-06-30.", None, "2025-06-30"),
        ("With effect from 1 January 2024 the rate is 5 %.", "2024-01-01", None),
        ("Throughout 2019 the plant stood still.", "2019", "2019"),
        ("The rate was 5 % (from 2010 to 2015).", "2010", "2015"),
        ("The plant has stood still since May 2019 and until June 2021.", "2019-05", "2021-06"),
    ],
)
def test_the_words_of_a_statement_say_from_when_until_when_it_is_so(statement, valid_from, valid_until):
    assert read_validity(statement) == Validity(valid_from, valid_until)


@pytest.mark.parametrize(
    "statement",
    [
        "The town has 5,000 inhabitants.",
        "The town was founded in 2010.",
        "The value was 5 in 2010.",
        "The bridge did not open until 2023.",
        "The plant, which ran until 1990, made 5 t a day.",
        "The plant, closed until 2023, makes 5 t a day.",
        "It is 5 m long. It was 4 m long until 2023.",
        "Emissions fell by 40 % from 2010 levels.",
        "A study from 2019 found 5 species.",
        "Since 2019 was cold, the harvest was late.",
        "It takes from 10 to 15 days.",
        "Between 10 and 15 people came in 2010.",
        "It held from 2001 to 2003 and from 2010 to 2015.",
        "It has been so since the 1990s.",
        "It has been so since May.",
        "It was so from 2015 to 2010.",
        "The law that applied until 2020 had 5 articles.",
        "If it is closed until 2023, 5 towns lose their bridge.",
        "Merkel (chancellor until 2021) met 5 ministers.",
        "It was so until 44 BC.",
        "",
    ],
)
def test_where_the_words_leave_it_open_nothing_is_guessed(statement):
    assert read_validity(statement) == ALWAYS


@pytest.mark.parametrize(
    ("span", "other", "are_apart"),
    [
        (Validity("2010", "2015"), Validity("2016", None), True),
        (Validity(None, "2015"), Validity("2016-01", None), True),
        (Validity(None, "2015-06"), Validity("2015-07-01", "2016"), True),
        (Validity("2010", "2015"), Validity("2015", None), False),
        (Validity("2010", None), Validity("2020", None), False),
        (Validity(None, None), Validity("2020", None), False),
    ],
)
def test_spans_are_apart_where_no_day_lies_in_both(span, other, are_apart):
    assert span.is_apart_from(other) is are_apart
    assert other.is_apart_from(span) is are_apart
