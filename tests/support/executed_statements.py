"""Statements that this process sends to Postgres."""

from typing import Any

import pytest
from psycopg._queries import PostgresQuery


class Statements(list[str]):
    """Each statement in the order in which it was sent, without its comments."""

    def count_of(self, words: str) -> int:
        """How many of them have these words."""
        return sum(words in text for text in self)


def executed_statements(monkeypatch: pytest.MonkeyPatch) -> Statements:
    """The statements that are executed from now on, alone or with others."""
    executed = Statements()
    convert = PostgresQuery.convert

    def listen(self: PostgresQuery, query: Any, args: Any) -> None:
        text = query if isinstance(query, str) else query.as_string()
        executed.append(" ".join(line for line in text.splitlines() if not line.startswith("--")))
        convert(self, query, args)

    monkeypatch.setattr(PostgresQuery, "convert", listen)
    return executed
