from fractions import Fraction

import pytest

from chiron_workers.evidence.figures.figures import read_figures
from chiron_workers.evidence.figures.quantities import Agreement


def the_quantity(text):
    [found] = read_figures(text).quantities
    return found


def the_moment(text):
    [found] = read_figures(text).dates
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It is 5 km long.", "It is 5,000 metres long."),
        ("It costs $5.2bn.", "It costs US$ 5,200 million."),
        ("It costs $1 Billion.", "It costs $1,000 million."),
        ("It has three rooms.", "It has 3 rooms."),
        ("1 000 people came", "1,000 people came"),
        ("5 million users", "5,000,000 users"),
        ("half a million users", "500 000 users"),
        ("three hundred and twenty-five dogs", "325 dogs"),
        ("98.6 °F at rest", "37 degrees Celsius at rest"),
        ("a share of 50 %", "half of them"),
        ("two-thirds of patients", "two thirds of patients"),
        ("36 km/h fast", "10 m/s fast"),
        ("the 3rd place", "the third place"),
        ("between 5 and 10 km", "5–10 kilometres"),
        ("12 km² of land", "12 square kilometers of land"),
        ("3 × 10⁸ m/s in vacuum", "300,000,000 m/s in vacuum"),
        ("2 years later", "24 months later"),
        ("−5 °C", "-5 degrees celsius"),
        ("twice the size", "two times the size"),
        ("About 5-10 dogs", "about 5 to 10 dogs"),
        ("at least 65 of them", "65 or more of them"),
    ],
)
def test_numbers_are_equal_in_whatever_digits_words_and_units_they_are_written(one, other):
    assert the_quantity(one).dimension == the_quantity(other).dimension
    assert the_quantity(one).agreement(the_quantity(other)) is Agreement.EQUAL


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("99.9 % uptime", "99.5 % uptime"),
        ("330 m tall", "324 m tall"),
        ("at least 5 dogs", "at most 4 dogs"),
        ("5-10 dogs", "11 dogs"),
        ("20 patients", "21 patients"),
        ("5 mg", "5 g"),
        ("100 °C", "90 °C"),
        ("10⁹ cells", "10⁶ cells"),
        ("-5 degrees", "5 degrees"),
    ],
)
def test_numbers_that_no_rounding_explains_are_different(one, other):
    assert the_quantity(one).agreement(the_quantity(other)) is Agreement.DIFFERENT


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("about 384,000 km", "384,400 km"),
        ("100 °C", "99.97 °C"),
        ("8,849 m", "8,848.86 m"),
        ("more than 100 dogs", "120 dogs"),
        ("up to 30 %", "25 %"),
        ("5-10 dogs", "7 dogs"),
        ("nearly 8 billion people", "8.1 billion people"),
        ("37.2 ± 0.3 °C", "37 °C"),
    ],
)
def test_a_rounded_number_a_bound_or_a_range_is_near_what_it_allows(one, other):
    assert the_quantity(one).agreement(the_quantity(other)) is Agreement.NEAR


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 12 March 2020", (2020, 3, 12), (2020, 3, 12)),
        ("on March 12th, 2020", (2020, 3, 12), (2020, 3, 12)),
        ("on 2020-03-12", (2020, 3, 12), (2020, 3, 12)),
        ("in March 2020", (2020, 3, 1), (2020, 3, 31)),
        ("in 2020", (2020, 1, 1), (2020, 12, 31)),
        ("in the 1990s", (1990, 1, 1), (1999, 12, 31)),
        ("in 44 BC", (-44, 1, 1), (-44, 12, 31)),
        ("in the nineteenth century", (1800, 1, 1), (1900, 12, 31)),
        ("the 2010 election", (2010, 1, 1), (2010, 12, 31)),
        ("on 4 July", (0, 7, 4), (0, 7, 4)),
    ],
)
def test_a_date_is_the_days_it_spans(text, first, last):
    moment = the_moment(text)
    assert (moment.first, moment.last) == (first, last)
    assert read_figures(text).quantities == ()


@pytest.mark.parametrize(
    "text", ["about 1500 people", "with 1500 soldiers", "1,998 pages", "2000 metres", "1999 %"]
)
def test_four_digits_that_count_something_are_no_year(text):
    assert read_figures(text).dates == ()
    assert the_quantity(text).low in {1500, 1998, 2000, Fraction(1999, 100)}


def test_a_number_behind_a_name_belongs_to_the_name():
    apollo, three = read_figures("In July, Apollo 11 carried 3 men.").quantities
    assert (apollo.dimension, three.dimension) == ("name", "count")


@pytest.mark.parametrize(
    "text",
    [
        "He may come.",
        "one of the best",
        "H2O and 5G",
        "COVID-19 spread",
        "a second look",
        "tens of thousands of them",
    ],
)
def test_words_that_only_look_like_figures_are_none(text):
    assert read_figures(text).all == ()


def test_a_figure_says_where_it_stands():
    text = "The tower, at least 5 km away, opened on 12 March 1990."
    assert [text[figure.start : figure.end] for figure in read_figures(text).all] == [
        "at least 5 km",
        "12 March 1990",
    ]
