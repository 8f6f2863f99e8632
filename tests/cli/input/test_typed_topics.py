from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from chiron_api.cli.input.typed_topics import check_typed_topics
from chiron_workers.errors import UsageError

REFUSALS = {
    (
        "Tides",
        "—subject",
        "Moon",
    ): "—subject begins with a long dash. An option begins with hyphens: --subject.",
    ("Tides", "–-budget-usd=5"): "An option begins with hyphens: --budget-usd.",
    ("Tides", "–s", "Moon"): "An option begins with hyphens: -s.",
    ("How", "deep", "is", "it?"): 'Put straight quotes around it: "How deep is it?".',
    ("“Tides", "and", "moons”"): 'Put straight quotes around it: "Tides and moons".',
}


@pytest.mark.parametrize("topics", REFUSALS)
def test_topics_that_are_a_slip_of_the_keyboard_are_refused(topics: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as refusal:
        check_typed_topics(topics)
    assert REFUSALS[topics] in str(refusal.value)


@pytest.mark.parametrize(
    "topics",
    [
        ("Tides", "Moons", "Winds"),
        ("How deep is it?", "of", "Tides"),
        ("– 5 degrees", "Why?"),
        ("–5", "−40", "a"),
    ],
)
def test_topics_of_one_word_pass(topics: tuple[str, ...]) -> None:
    check_typed_topics(topics)


def test_a_submit_with_a_long_dash_stores_nothing(
    chiron: Callable[..., Result], rows: Callable[..., list[dict[str, object]]]
) -> None:
    refusal = chiron("submit", "Tides", "-s", "Moon", "–-budget-usd", "5")
    assert (refusal.exit_code, rows("select 1 from runs")) == (2, [])
    assert "Topic" not in refusal.stderr


def test_a_file_of_topics_is_no_topic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    check_typed_topics(["week.txt"])
    (tmp_path / "week.txt").write_text("How deep is Lake Baikal?")
    with pytest.raises(UsageError, match=r"week\.txt is a file\. Put --file before it"):
        check_typed_topics(["week.txt"])
