"""What the prompt cache saves: `uv run python benchmarks/cache_economy.py [--turns N] [--json FILE]`.

The same conversation is billed as Claude bills it (writes 1.25 times the input price, entries written at breakpoints
only and found 20 blocks back, five minutes from the last read) with the breakpoints of this pipeline, with a top-level
one alone, and without any; beside them the least that is possible. No network, no clock: the figures are exact.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

from billing import Till
from figures import Figures, begin, table

from chiron_workers.agent.window import Window
from chiron_workers.model import Request
from chiron_workers.model.request import body
from chiron_workers.roles import role_of
from chiron_workers.runs.entries import Opening, Question, Reply, Results, ToolResult
from chiron_workers.tools import registry

MODEL = "claude-opus-5-5"
TURN_S = 20.0  # between two calls, of the server's clock
OUTPUT_TOKENS = 300
PROSE = "The tide follows the moon by about fifty minutes a day, and the height of it follows the season. "

CALLS: dict[str, Callable[[int], int]] = {
    "1 call a turn": lambda _: 1,
    "12 calls every tenth turn": lambda turn: 12 if turn % 10 == 9 else 1,
    "12 calls a turn": lambda _: 12,
}


def without(request: Request) -> dict[str, Any]:
    return pipeline(replace(request, model="another")) | {"model": request.model}


def top_level_only(request: Request) -> dict[str, Any]:
    return {**without(request), "cache_control": {"type": "ephemeral"}}


def pipeline(request: Request) -> dict[str, Any]:
    sent: dict[str, Any] = json.loads(body(request, ttl="5m"))
    return sent


WAYS = {"no caching": without, "top-level mark only": top_level_only, "pipeline": pipeline}


def conversation(turns: int, calls: Callable[[int], int]) -> Iterator[Request]:
    """The requests of a run, turn by turn."""
    system = role_of("research").prompt
    opening = Opening(MODEL, system, tuple(registry().definitions()), 16_000)
    window = Window([opening, Question("Research topic: tides")])
    for turn in range(turns):
        yield window.request()
        ids = [f"toolu_{turn}_{n}" for n in range(calls(turn))]
        blocks = [
            {"type": "tool_use", "id": each, "name": "look_up", "input": {"query": each}} for each in ids
        ]
        window.add(Reply(({"type": "text", "text": PROSE * 4}, *blocks), "tool_use"))
        window.add(Results(tuple(ToolResult(each, PROSE * 8) for each in ids)))


def cost(turns: int, calls: Callable[[int], int], way: Callable[[Request], dict[str, Any]]) -> Till:
    now = 0.0
    till = Till(MODEL, lambda: now)
    for request in conversation(turns, calls):
        till.bill(way(request), output_tokens=OUTPUT_TOKENS)
        now += TURN_S
    return till


def measure(*, turns: int) -> Figures:
    figures: Figures = {}
    for name, calls in CALLS.items():
        tills = {way: cost(turns, calls, billed) for way, billed in WAYS.items()}
        least = tills["pipeline"].least_usd
        figures[f"{name}, least possible"] = [_figure(least, least)]
        for way, till in tills.items():
            figures[f"{name}, {way}"] = [_figure(till.paid_usd, least)]
    return figures


def _figure(usd: Decimal, least: Decimal) -> dict[str, Any]:
    return {"usd": float(usd), "times_the_least": float(usd / least)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=1, help="Changes nothing: the figures are exact.")
    with begin(parser) as (arguments, report):
        report.figures = measure(turns=arguments.turns)
        rows = [
            [name, f"{found['usd']:.3f}", f"{found['times_the_least']:.2f}"]
            for name, (found,) in report.figures.items()
        ]
        table(f"A run of {arguments.turns} turns with {MODEL}", ["", "USD", "times the least"], rows)


if __name__ == "__main__":
    main()
