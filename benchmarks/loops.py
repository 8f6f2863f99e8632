"""The loops that are compared, each in the best way its documentation shows for an async agent loop.

A module of theirs offers `install(database_url)`, which creates its tables, and `opened(runs=)`, which yields a `Play`:
it carries the conversation on a topic to its end, from where it was left if another process began it. All of them
ask the model, grow the history and call the tool in the words of `bare.py`; they differ in what they keep, and how.

As a program it plays many conversations at once in one process and prints the time of each turn.
"""

import argparse
import asyncio
import json
import sys
import time
from contextlib import AbstractAsyncContextManager
from importlib import import_module, metadata

import uvloop
from bare import Play
from look_up import calls_told_to

MODULES = {
    "bare": "bare",
    "dbos": "dbos_loop",
    "langgraph": "langgraph_loop",
    "langgraph-delta": "langgraph_delta_loop",
    "absurd": "absurd_loop",
}
PACKAGES = ("dbos", "langgraph", "langgraph-checkpoint-postgres", "absurd-sdk", "absurdctl")
RIVALS = tuple(name for name in MODULES if name != "bare")


def install(name: str, database_url: str) -> None:
    """Create the tables that a loop keeps its conversations in."""
    if name != "bare":
        asyncio.run(import_module(MODULES[name]).install(database_url))


def opened(name: str, *, runs: int) -> AbstractAsyncContextManager[Play]:
    """Open a loop for so many conversations at once, within the running event loop."""
    found: AbstractAsyncContextManager[Play] = import_module(MODULES[name]).opened(runs=runs)
    return found


def versions() -> dict[str, str]:
    """The versions of the rivals' packages.

    Raises:
        SystemExit: They are not installed; the message says how to install them.
    """
    try:
        return {package: metadata.version(package) for package in PACKAGES}
    except metadata.PackageNotFoundError as error:
        raise SystemExit(
            f"{error.name} is not installed: run it as `uv run --group benchmarks python {sys.argv[0]}`."
        ) from None


def topics(tag: str, runs: int) -> list[str]:
    """One topic for each conversation of a process; the tag keeps them apart from those of other processes."""
    return [f"tides {tag} {n:04}" for n in range(runs)]


async def play_all(name: str, arguments: list[str], *, over_s: float = 0.0) -> None:
    """Play conversations on these topics side by side, begun one after the other within `over_s`."""
    async with opened(name, runs=len(arguments)) as play:

        async def one(n: int, topic: str) -> None:
            await asyncio.sleep(over_s * n / len(arguments))
            await play(topic)

        await asyncio.gather(*(one(n, topic) for n, topic in enumerate(arguments)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=MODULES)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument(
        "--tag", required=True, help="Part of every topic; the same tag goes on where it was left."
    )
    parser.add_argument(
        "--over-s", type=float, default=0.0, help="Begin the conversations within so many seconds."
    )
    arguments = parser.parse_args()
    turns: list[tuple[str, float]] = []
    with calls_told_to(lambda query: turns.append((query.rsplit(" ", 1)[0], time.time()))):
        uvloop.run(play_all(arguments.name, topics(arguments.tag, arguments.runs), over_s=arguments.over_s))
    json.dump(turns, sys.stdout)


if __name__ == "__main__":
    main()
