"""The checks of `chiron doctor`: each module of this folder that has `checks` brings its own."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg.sql import SQL

from chiron_workers.db.connections import SteadyThreadConnection
from chiron_workers.settings import Settings


@dataclass(frozen=True, slots=True)
class Check:
    """What was found about one thing and, where that is a problem, how to correct it."""

    name: str
    found: str
    advice: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing needs to be done."""
        return not self.advice


def rows_in_postgres(settings: Settings, query: SQL, args: Mapping[str, Any] | None = None) -> list[DictRow]:
    """Return the rows of a query; none if no database is set, or Postgres fails, which its own check reports."""
    if not settings.database_url:
        return []
    try:
        with SteadyThreadConnection.connect(
            settings.database_url, autocommit=True, connect_timeout=5, row_factory=dict_row
        ) as connection:
            return connection.execute(query, args).fetchall()
    except psycopg.Error:
        return []


def run_checks(settings: Settings) -> Iterator[Check]:
    """All checks in the modules' `ORDER`, each as soon as it is done, so that a slow one hides no earlier result."""
    # The modules import the libraries of all services, which no other command needs.
    modules = [
        importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)
    ]
    for module in sorted(modules, key=lambda module: int(module.ORDER)):
        yield from module.checks(settings)
