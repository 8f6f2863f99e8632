"""What rules say of a cell: its value occurs in its facts, does not, or only a reader can tell."""

import pytest

from chiron_workers.knowledge.drafts.citable_facts import CitableFact, Passage
from chiron_workers.knowledge.rows.cell_rules import FilledCell, rule
from chiron_workers.knowledge.rows.values import value_of
from chiron_workers.runs.columns import Column
from chiron_workers.states import ColumnType as Kind
from chiron_workers.states import FactStatus

URL = "https://www.postgresql.org/about/news#top"
ID = "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa"


def facts(content: str, quote: str = "") -> dict[str, CitableFact]:
    passages = (Passage(quote, "", URL),)
    return {ID: CitableFact(ID, content, "a/b", FactStatus.ACCEPTED, 0.9, True, (), passages)}


def outcome(value: object, kind: Kind, content: str, quote: str = "") -> str:
    """shown (though perhaps of something else), refused, or asked."""
    column = Column("column", kind)
    ruling = rule(FilledCell(column, value_of(value, kind), (ID,)), facts(content, quote))  # type: ignore[arg-type]
    if ruling.refusal:
        return "refused"
    return "shown" if ruling.has_value else "asked"


@pytest.mark.parametrize(
    ("value", "kind", "content", "expected"),
    [
        (1996, Kind.INT, "PostgreSQL was first released in 1996.", "shown"),
        (1996, Kind.INT, "PostgreSQL was released in 1996, MySQL in 1995.", "shown"),
        (1997, Kind.INT, "PostgreSQL was released in 1996, MySQL in 1995.", "refused"),
        (3, Kind.INT, "There are three engines.", "shown"),
        (8849, Kind.INT, "Everest is 8,849 metres high.", "shown"),
        (8849, Kind.FLOAT, "Everest is 8.849 km high.", "shown"),
        (45, Kind.INT, "The share was 45 %.", "shown"),
        (1_500_000, Kind.INT, "It has 1.5 million lines.", "shown"),
        (-40, Kind.INT, "It was -40 degrees Celsius cold.", "shown"),
        (40, Kind.INT, "It was more than 100 degrees.", "refused"),
        (100, Kind.INT, "More than 100 people came.", "shown"),
        (1.9, Kind.FLOAT, "The ice was 1.9 m thick.", "shown"),
        (2.0, Kind.FLOAT, "The ice was 1.9 m thick.", "refused"),
        ("2023-09-14", Kind.DATE, "It was released on 14 September 2023.", "shown"),
        (
            "2023-09-14",
            Kind.DATE,
            "It was planned for 13 September 2023 and came on 14 September 2023.",
            "shown",
        ),
        ("2023-09-01", Kind.DATE, "It was released in September 2023.", "refused"),
        ("https://www.postgresql.org/about/news/", Kind.URL, "Anything.", "shown"),
        ("https://www.postgresql.org/about", Kind.URL, "Anything.", "refused"),
        ("https://example.org/a", Kind.URL, "Its page is https://example.org/a.", "shown"),
        ("https://example.org/a", Kind.URL, "Its page is https://example.org/abc.", "refused"),
        ("PostgreSQL", Kind.TEXT, "PostgreSQL is a database.", "shown"),
        ("postgresql", Kind.TEXT, "PostgreSQL is a database.", "shown"),
        ("Postgres", Kind.TEXT, "PostgreSQL is a database.", "asked"),
        ("PostgreSQL 17", Kind.TEXT, "PostgreSQL is a database.", "refused"),
        ("www.postgresql.org", Kind.TEXT, "PostgreSQL is a database.", "shown"),
        (URL, Kind.TEXT, "PostgreSQL is a database.", "shown"),
        ("windows", Kind.TEXT, "MySQL does not support windows.", "asked"),
        ("MySQL", Kind.TEXT, "MySQL does not support windows.", "shown"),
        ("windows", Kind.TEXT, "MySQL has no merge joins. It supports windows.", "shown"),
        (True, Kind.BOOL, "PostgreSQL is free.", "asked"),
    ],
)
def test_a_value_is_held_to_what_its_fact_says(
    value: object, kind: Kind, content: str, expected: str
) -> None:
    assert outcome(value, kind, content) == expected


def test_words_of_the_quote_count_like_those_of_the_statement() -> None:
    assert (
        outcome("Michael Stonebraker", Kind.TEXT, "One man led it.", "Led by Michael Stonebraker.") == "shown"
    )
    assert outcome(1986, Kind.INT, "It is old.", "It began in 1986.") == "shown"
