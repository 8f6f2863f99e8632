import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import Result

from chiron_workers.ids import new_id

Chiron = Callable[..., Result]
CONTENTS = ("Ducks dive for food.", "A generator yields values.", "Swans mate for life.")


@pytest.fixture
def stored_facts(rows: Callable[..., list[dict[str, Any]]]) -> None:
    """Facts of two subjects, stored ten days, three days and no time ago; then a candidate."""
    rows("insert into subjects (id, title) values ('birds', 'Birds'), ('python', 'Python') returning id")
    ages = (10, 3, 0, 0)
    facts = zip(("birds", "python", "birds", "birds"), (*CONTENTS, "Geese hiss."), ages, strict=True)
    for subject, content, age in facts:
        rows(
            "insert into facts (id, subject_id, content, source_url, source_score, topic_path, confidence, status, created_at)"
            " values (%s, %s, %s, 'https://example.org/a', 0.8, 'a', 0.8, %s, now() - %s * interval '1 day') returning id",
            new_id(), subject, content, "candidate" if "Geese" in content else "accepted", age,
        )  # fmt: skip


def contents(chiron: Chiron, *arguments: str) -> list[str]:
    return [json.loads(line)["content"] for line in chiron("facts", "--json", *arguments).stdout.splitlines()]


@pytest.mark.usefixtures("stored_facts")
def test_facts_lists_the_newest_of_all_subjects_first(chiron: Chiron) -> None:
    assert contents(chiron) == list(reversed(CONTENTS))
    assert contents(chiron, "--since", "7d") == [CONTENTS[2], CONTENTS[1]]
    assert contents(chiron, "--since", "yesterday") == [CONTENTS[2]]
    assert contents(chiron, "--subject", "Birds", "--limit", "1") == [CONTENTS[2]]
    assert contents(chiron, "--subject", "Birds", "--since", "30d") == [CONTENTS[2], CONTENTS[0]]
    assert contents(chiron, "--status", "candidate") == ["Geese hiss."]


@pytest.mark.usefixtures("stored_facts")
def test_facts_shows_people_when_where_and_how_sure(chiron: Chiron) -> None:
    first, second = chiron("facts", "--limit", "1").stdout.splitlines()
    assert first.endswith("  birds  Swans mate for life.")
    assert second.endswith("  https://example.org/a  (confidence 0.80)")


def test_facts_says_that_there_are_none_and_which_subject_is_near(chiron: Chiron) -> None:
    assert chiron("facts", "--since", "2h").stdout == "No facts were stored then.\n"
    assert chiron("facts").stdout == "No facts yet.\n"
    assert chiron("facts", "--subject", "Birds").exit_code == 1
