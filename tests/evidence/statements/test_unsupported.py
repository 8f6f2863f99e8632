import time

import pytest

from chiron_workers.evidence.statements.unsupported import find_unsupported


@pytest.mark.parametrize(
    ("fact", "quote", "figure"),
    [
        ("The uptime was 99.9 %.", "The uptime was high.", "99.9 %"),
        ("The uptime was 99.9 %.", "The uptime was 99.5 %.", "99.9 %"),
        ("It opened on 12 May 1937.", "It opened in 1937.", "12 May 1937"),
        ("It opened in 1937.", "It opened long ago.", "1937"),
        ("It opened on 6 May 1937.", "It opened on 6 May. It had been planned in 1931.", "6 May 1937"),
        ("Das Kabel ist 82 Meter lang.", "Das Kabel ist 82 Kilometer lang.", "82 Meter"),
        ("Der Turm von 126 Metern fiel.", "Der Turm ist 162 Meter hoch und fiel.", "126"),
        ("The tower is 330 m tall.", "Height: 330", "330 m"),
        ("It is not effective.", "It is effective.", '"not"'),
        ("It ran Python 3.12.", "It ran Python 3.11.", "3.12"),
        ("It is 5 km away.", "It is 5 miles away.", "5 km"),
        ("120 people came.", "More than 100 people came.", "120"),
        ("It is 384,400 km away.", "It is about 384,000 km away.", "384,400 km"),
    ],
)
def test_what_the_quote_lacks_is_said_in_one_sentence(fact, quote, figure):
    assert find_unsupported(fact, quote) == [f"The fact says {figure}, the quote does not."]


@pytest.mark.parametrize(
    ("fact", "quote"),
    [
        ("There are three dogs.", "3 dogs live there."),
        ("1,000 people came.", "It drew 1000 people."),
        ("It has 5 million users.", "It has 5,000,000 users."),
        ("It is 5 km long.", "Its length is 5000 metres."),
        ("It opened in 1937.", "Opened on 27 May 1937."),
        ("It is about 384,000 km away.", "The distance is 384,400 km."),
        ("It does not work.", "It never worked."),
        ("The first man walked there.", "Nobody had walked there before."),
        ("Python 3.12 came in 2023.", "In October 2023, Python 3.12 was released."),
        ("It rose to 10 km.", "It rose from 5 to 10 km."),
        ("It takes 5 to 10 days.", "It takes at least 5 days, and 10 days in winter."),
        ("It costs over $5 million.", "It costs $7 million."),
        ("Half of them left.", "50 % of them left."),
        ("On October 6, 1995, it was released.", "October 6th matters: in 1995 the band released it."),
        ("Der Turm von 126 Metern fiel.", "Der Turm ist 126 Meter hoch und fiel."),
        ("1821年，东岭大学创立。", "东岭大学创立于1821年。"),
        ("Words without figures.", "Other words without any."),
    ],
)
def test_figures_are_there_in_other_digits_words_and_units_too(fact, quote):
    assert find_unsupported(fact, quote) == []


def test_each_figure_is_pointed_out_once():
    assert find_unsupported("In 1990, 5 km; in 1990, 5 km.", "Nothing.") == [
        "The fact says 1990, the quote does not.",
        "The fact says 5 km, the quote does not.",
    ]


def test_what_the_quote_denies_and_the_fact_does_not_is_pointed_out():
    assert find_unsupported("It is effective.", "In this trial it was not effective at all.") == [
        'The quote denies "effective", the fact does not.'
    ]
    assert find_unsupported("It is effective.", "It is not effective in mice, but effective in men.") == []


@pytest.mark.parametrize(
    "text",
    [
        "1990 ",
        "5, ",
        "7 km and ",
        "two hundred and ",
        "seven",
        "A1 ",
        "-",
        "1",
        "1,000,000,",
        "May ",
        "one ",
        "not ",
    ],
)
def test_a_text_of_nothing_but_figures_takes_no_time(text):
    long = (text * 4_000)[:4_000]
    began = time.process_time()
    find_unsupported(long, long)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("fact", "quote", "lacking"),
    [
        ("The storm killed 5,000 people.", "The storm killed more than 100 people.", "5,000"),
        ("It weighs 7 kg.", "It weighs between 1 and 10 kg.", "7 kg"),
        ("GPT-4 passed.", "GPT-3 passed.", "GPT-4"),
        ("5G is fast.", "4G is fast.", "5G"),
        ("塔高330米", "塔高300米", "330米"),
    ],
)
def test_neither_a_bound_nor_another_name_shows_a_number(fact: str, quote: str, lacking: str) -> None:
    assert find_unsupported(fact, quote) == [f"The fact says {lacking}, the quote does not."]
