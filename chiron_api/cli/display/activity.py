"""The progress of a long command as a line that changes, on a terminal alone."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO, TypeVar

import typer

from chiron_api.text import duration, one_line

if TYPE_CHECKING:
    from rich.progress import Progress

Item = TypeVar("Item")
SHOWN_FROM_S = 1.0  # of a step: how long it took


@contextmanager
def steps(stream: TextIO | None = None) -> Iterator[Callable[[str], None]]:
    """Call it with a sentence as each step begins. On a terminal the step under way has a spinner and a clock.

    Args:
        stream: Where it goes; standard output by default.
    """
    output = stream or sys.stdout
    if not output.isatty():
        yield lambda sentence: typer.echo(sentence, file=output)
        return
    start, sentences = time.monotonic(), list[str]()

    def end() -> None:
        if sentences:
            seconds = time.monotonic() - start
            words = f"{sentences.pop()}{f' {duration(seconds)}' if seconds >= SHOWN_FROM_S else ''}"
            progress.console.print(words, markup=False, highlight=False, soft_wrap=True)

    def begin(sentence: str) -> None:
        nonlocal start
        end()
        start = time.monotonic()
        sentences.append(sentence)
        progress.reset(task, description=one_line(sentence))

    with _progress(output) as progress:
        task = progress.add_task("", total=None)
        try:
            yield begin
        finally:
            end()


def show_count(items: Iterable[Item], words: str, stream: TextIO | None = None) -> Iterator[Item]:
    """Pass items on as they come, and show on a terminal how many there were.

    Args:
        words: The activity, such as "Reading documents".
        stream: Where it goes; standard error by default, as the output is what comes of it.
    """
    output = stream or sys.stderr
    if not output.isatty():
        yield from items
        return
    with _progress(output) as progress:
        task = progress.add_task(words, total=None)
        for number, item in enumerate(items, start=1):
            progress.update(task, description=f"{words}: {number:,}")
            yield item


def _progress(stream: TextIO) -> "Progress":
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    return Progress(*columns, console=Console(file=stream), transient=True)
