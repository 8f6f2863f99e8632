"""Members of tests/hostile that are Python files, small in the tests of behaviour and in full in the acceptance run.

A member that takes long in full has `TIMES`, its small and its full size, and `content`, which makes what it brings of one of
them, instead of BODY, CONTENT or TEXT. Small, it still holds enough work to stall a loop. `IS_LONG = True` leaves a member to
the acceptance run.
"""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

Member = dict[str, Any]


def parameters(folder: Path, *, prefix: str = "") -> Iterator[Any]:
    """Every member of a folder and whether it is full, as parameters of a test; none is executed yet."""
    for member in sorted(folder.glob("*.py")):
        text, name = member.read_text(), f"{prefix}{member.stem}"
        is_long = "\nIS_LONG = True\n" in text
        if not is_long:
            yield pytest.param(member, False, id=name)
        if is_long or "\nTIMES = " in text:
            yield pytest.param(
                member, True, id=name if is_long else f"{name}-full", marks=pytest.mark.acceptance
            )


def words_of(member: Path, *, is_full: bool) -> Member:
    """What a member's file defines."""
    words = runpy.run_path(str(member))
    if sizes := words.get("TIMES"):
        words |= dict.fromkeys(("BODY", "CONTENT", "TEXT"), words["content"](sizes[is_full]))
    return words
