"""Which quotes of a text a later one still bears out, and how far the two agree."""

import random
import re
import time
from pathlib import Path

import pytest

from chiron_workers.evidence.quotes.drift import measure_drift, sentence_agreement
from chiron_workers.evidence.quotes.quotes import locate

TEXTS = sorted((Path(__file__).parents[2] / "golden").glob("*.expected"))
OLD = (
    "The ice has an extent of 4.3 million square kilometres. It is two metres thick.\n\nIt floats on the sea."
)
QUOTE = "The ice has an extent of 4.3 million square kilometres."


def stored_quotes(text: str, dice: random.Random, count: int) -> list[str]:
    """Passages as they are stored once they were found: extended to whole sentences."""
    words, found = text.split(), set[str]()
    for _ in range(count):
        at = dice.randrange(max(1, len(words) - 12))
        passage = re.search(r"\s+".join(map(re.escape, words[at : at + 10])), text)
        if passage and (standing := locate(passage[0], text)):
            found.add(standing.quote)
    return sorted(found)


@pytest.mark.parametrize("file", TEXTS, ids=lambda file: file.name)
def test_a_quote_stands_wherever_its_sentences_stand(file: Path) -> None:
    text, dice = file.read_text(), random.Random(file.name)
    quotes = stored_quotes(text, dice, 12)
    later = f"Another paragraph.\n\n{text}\n\nThe end."
    assert measure_drift(text, later, quotes).missing_quotes == []
    for n, quote in enumerate(quotes[:5]):
        if digit := re.search(r"\d", quote):
            wrong = quote.replace(digit[0], str((int(digit[0]) + 1) % 10))
            assert n in measure_drift(text, later.replace(quote, wrong), quotes).missing_quotes


@pytest.mark.parametrize(
    ("now", "stands"),
    [
        (OLD, True),
        (OLD.replace(" 4.3", " 4.4"), False),
        (OLD.replace("The ice has", "It is not true that the ice has"), False),
        (OLD.replace("kilometres.", "kilometres, or so it was thought."), False),
        (OLD.replace("kilometres.", "kilometres"), False),
        (OLD.replace("extent of", "extent\nof"), True),
        (f"It is not true that {QUOTE[0].lower()}{QUOTE[1:]} Anyway. {QUOTE}", True),
        (QUOTE, True),
        ("All new.", False),
        ("", False),
    ],
)
def test_a_sentence_that_was_made_longer_or_shorter_is_another_one(now: str, stands: bool) -> None:
    assert (measure_drift(OLD, now, [QUOTE]).missing_quotes == []) is stands


def test_the_share_of_sentences_that_still_stand_says_how_far_two_texts_agree() -> None:
    assert sentence_agreement(OLD, OLD.replace("\n\n", "\n \n")) == 1
    assert sentence_agreement(OLD, OLD + "\n\nRead 17 times.") == 1
    assert sentence_agreement(OLD, OLD.replace("4.3", "4.4")) == pytest.approx(2 / 3)
    assert sentence_agreement(OLD, "") == 0
    assert sentence_agreement("", OLD) == 1


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("The pressure is 1.01 × 105 Pa there.", "The pressure is 1.01 × 10⁵ Pa there."),
        ("Of the mice, 37 were ill.", "Of the mice, 3[7] were ill."),
        ("An area of 12 m2 was dug, with CO2.", "An area of 12 m² was dug, with CO₂."),
        ("Men | Women in all", " | Men | Women in all"),
        ("Dig the whole bed", "3. Dig the whole bed"),
    ],
)
def test_what_our_readers_learn_to_read_is_no_change_of_the_source(before: str, now: str) -> None:
    assert measure_drift(before, now, [before], {0}).missing_quotes == []
    changed = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), now).replace("Dig", "Leave")
    if changed != now:
        assert measure_drift(before, changed, [before], {0}).missing_quotes == [0]


def test_a_power_that_came_to_the_line_is_a_change() -> None:
    before, now = "The pressure is 1.01 × 10⁵ Pa there.", "The pressure is 1.01 × 105 Pa there."
    assert measure_drift(before, now, [before]).missing_quotes == [0]


def test_a_long_text_and_many_quotes_take_time_in_proportion() -> None:
    dice = random.Random(7)
    words = ["".join(dice.choices("abcdefghijklmnop", k=7)) for _ in range(2_000)]
    lines = [f"Number {n}: {' '.join(dice.choices(words, k=12))}." for n in range(8_000)]
    quotes = dice.sample(lines, 200)
    began = time.process_time()
    found = measure_drift("\n\n".join(lines), "\n\n".join(lines[:4_000]), quotes)
    assert time.process_time() - began < 10, "800 KB"
    assert {int(quotes[n].split(":")[0].split()[1]) >= 4_000 for n in found.missing_quotes} == {True}
    assert len(found.missing_quotes) == sum(int(quote.split(":")[0].split()[1]) >= 4_000 for quote in quotes)
