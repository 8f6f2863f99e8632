"""What rules say of a cell: its value stands in its facts, or does not, or somebody has to be asked."""

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
    """found, shown (though perhaps of something else), refused, or asked."""
    column = Column("column", kind)
    ruling = rule(FilledCell(column, value_of(value, kind), (ID,)), facts(content, quote))  # type: ignore[arg-type]
    if ruling.refusal:
        return "refused"
    return "found" if ruling.finding else "shown" if ruling.is_shown else "asked"


@pytest.mark.parametrize(
    ("value", "kind", "content", "expected"),
    [
        (1996, Kind.INT, "PostgreSQL was first released in 1996.", "found"),
        (1996, Kind.INT, "PostgreSQL was released in 1996, MySQL in 1995.", "shown"),
        (1997, Kind.INT, "PostgreSQL was released in 1996, MySQL in 1995.", "refused"),
        (3, Kind.INT, "There are three engines.", "found"),
        (8849, Kind.INT, "Everest is 8,849 metres high.", "found"),
        (8849, Kind.FLOAT, "Everest is 8.849 km high.", "found"),
        (45, Kind.INT, "The share was 45 %.", "found"),
        (1_500_000, Kind.INT, "It has 1.5 million lines.", "found"),
        (-40, Kind.INT, "It was -40 degrees Celsius cold.", "found"),
        (40, Kind.INT, "It was more than 100 degrees.", "refused"),
        (100, Kind.INT, "More than 100 people came.", "shown"),
        (1.9, Kind.FLOAT, "The ice was 1.9 m thick.", "found"),
        (2.0, Kind.FLOAT, "The ice was 1.9 m thick.", "refused"),
        ("2023-09-14", Kind.DATE, "It was released on 14 September 2023.", "found"),
        (
            "2023-09-14",
            Kind.DATE,
            "It was planned for 13 September 2023 and came on 14 September 2023.",
            "shown",
        ),
        ("2023-09-01", Kind.DATE, "It was released in September 2023.", "refused"),
        ("https://www.postgresql.org/about/news/", Kind.URL, "Anything.", "found"),
        ("https://www.postgresql.org/about", Kind.URL, "Anything.", "refused"),
        ("https://example.org/a", Kind.URL, "Its page is https://example.org/a.", "found"),
        ("https://example.org/a", Kind.URL, "Its page is https://example.org/abc.", "refused"),
        ("PostgreSQL", Kind.TEXT, "PostgreSQL is a database.", "found"),
        ("postgresql", Kind.TEXT, "PostgreSQL is a database.", "found"),
        ("Postgres", Kind.TEXT, "PostgreSQL is a database.", "asked"),
        ("PostgreSQL 17", Kind.TEXT, "PostgreSQL is a database.", "refused"),
        ("www.postgresql.org", Kind.TEXT, "PostgreSQL is a database.", "found"),
        (URL, Kind.TEXT, "PostgreSQL is a database.", "found"),
        ("windows", Kind.TEXT, "MySQL does not support windows.", "asked"),
        ("MySQL", Kind.TEXT, "MySQL does not support windows.", "shown"),
        ("windows", Kind.TEXT, "MySQL has no merge joins. It supports windows.", "found"),
        (True, Kind.BOOL, "PostgreSQL is free.", "asked"),
    ],
)
def test_a_value_is_held_to_what_its_fact_says(
    value: object, kind: Kind, content: str, expected: str
) -> None:
    assert outcome(value, kind, content) == expected


def test_words_of_the_quote_count_like_those_of_the_statement() -> None:
    assert (
        outcome("Michael Stonebraker", Kind.TEXT, "One man led it.", "Led by Michael Stonebraker.") == "found"
    )
    assert outcome(1986, Kind.INT, "It is old.", "It began in 1986.") == "shown"
