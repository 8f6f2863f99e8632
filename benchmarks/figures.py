"""What a benchmark prints, and what it leaves in the file of --json."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from cpu import load_average, machine
from rich.console import Console
from rich.table import Table

WIDTH = 150  # of a table in a file
FAILURE_CHARS_MAX = 200
Figures = dict[str, list[dict[str, Any]]]  # each repeat's figures, by what was measured


_tables: list[dict[str, Any]] = []  # that this process has printed, for the file of --json


@dataclass(slots=True)
class Report:
    """The figures of one benchmark."""

    figures: Figures = field(default_factory=dict)


@contextmanager
def begin(parser: argparse.ArgumentParser) -> Iterator[tuple[argparse.Namespace, Report]]:
    """The arguments and an empty report, which is written to the file of --json at the end."""
    parser.add_argument("--json", type=Path, help="Write every repeat's figures to this file.")
    arguments = parser.parse_args()
    report, load_before = Report(), load_average()
    yield arguments, report
    if arguments.json:
        found = {
            "command": " ".join(sys.argv),
            "machine": machine(),
            "load": [load_before, load_average()],
            "figures": report.figures,
            "tables": _tables,
        }
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


def failure(error: BaseException) -> dict[str, Any]:
    """What stands in place of the figures of a loop that has ended with an error."""
    lines = str(error).strip().splitlines() or [""]
    return {"failed": f"{type(error).__name__}: {lines[-1]}"[:FAILURE_CHARS_MAX]}


def failed(repeats: Sequence[Mapping[str, Any]]) -> str:
    """The cell that says so of a loop that has ended with an error, in one repeat at least; else nothing."""
    messages = [str(repeat["failed"]) for repeat in repeats if "failed" in repeat]
    return f"failed: {messages[0]}" if messages else ""


def median_and_worst(parts: Mapping[str, Sequence[float]]) -> list[list[str]]:
    """Rows of a table: what was measured, its median and its worst, each with two digits."""
    return [[name, f"{median(values):.2f}", f"{max(values):.2f}"] for name, values in parts.items()]


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table whose first column names the row and whose others are numbers."""
    _tables.append({"title": title, "columns": list(columns), "rows": [list(row) for row in rows]})
    shown = Table(title=title, title_justify="left")
    for n, column in enumerate(columns):
        shown.add_column(column, justify="right" if n else "left")
    for row in rows:
        shown.add_row(*row)
    Console(width=None if sys.stdout.isatty() else WIDTH).print(shown)
