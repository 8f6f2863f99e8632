"""Headings whose words make a claim of them, which the rules doubt."""

import pytest

from chiron_workers.evidence.statements.headings import claiming_word


@pytest.mark.parametrize(
    ("heading", "word"),
    [
        ("Coffee causes cancer", "causes"),
        ("The dam is nearly useless", "is"),
        ("Vaccines don’t work", "don't"),
        ("Quill outperforms all parsers", "outperforms"),
        ("The mill failed", "failed"),
        ("Sea levels rose", "rose"),
        ("Trains faster than planes", "than"),
        ("No longer and never safe", "never"),
        ("Der Damm ist gefährlich", "ist"),
        ("Le barrage est inutile", "est"),
    ],
)
def test_a_heading_with_a_verb_or_a_comparison_is_doubted(heading: str, word: str) -> None:
    assert claiming_word(heading) == word


@pytest.mark.parametrize(
    "heading",
    [
        "Causes of the war",
        "The early works of Ada Pell",
        "Changes in the law and results",
        "Increases in sea level",
        "Published results",
        "Where sources disagree",
        "Worked example",
        "methods › satellites",
        "Salmon and the dam",
        "Dauer der Bauarbeiten",
        "Findings",
        "",
    ],
)
def test_a_heading_that_names_a_topic_is_not(heading: str) -> None:
    assert claiming_word(heading) == ""
