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
        ("Why vaccines don't work", "don't"),
        ("Why the mill failed", "failed"),
        ("How trains became faster than planes", "than"),
        ("Why coffee? It causes cancer", "causes"),
        ("What counts: the dam is useless", "is"),
        ("WHO has no members", "has"),
        ("Coffee will kill", "will"),
        ("The dam might fall", "might"),
        ("Arden lost the final", "lost"),
        ("Arden lost in the final", "lost"),
        ("Storms destroyed the mill", "destroyed"),
        ("Drugs killed hundreds of men", "killed"),
        ("Prices increased by half", "increased"),
        ("Coffee made them ill", "made"),
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
        "What it is",
        "How it was built",
        "Who can vote",
        "Who may not vote, and who cannot",
        "Why it has rained",
        "How Rome fell",
        "How it works",
        "How the town was destroyed",
        "Why the works of Ada Pell were lost",
        "Wie er gebaut wurde",
        "History: how it was built",
        "The Will of God",
        "Might and Magic",
        "Free will",
        "Children killed in war",
        "Ships lost at sea",
        "Chairs made of wood",
        "Bread made by hand",
        "Damage caused by storms",
    ],
)
def test_a_heading_that_names_a_topic_is_not(heading: str) -> None:
    assert claiming_word(heading) == ""
