"""A model that plays research of so many turns, whose replies follow from seed, run and turn; faults are switched on and off."""

import asyncio
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from support.postgres_faults import SLOW_TITLE
from support.scripted_model import Block, Ending, Fails, Says, call, cut_call, text, turn

SUBJECTS = ("alpha", "beta")
RUN = re.compile(r"\bb\d+r\d+\b")
JUDGE = "give_scores"


@dataclass
class ResearchScript:
    """What the model server answers.

    Args:
        turns: How many replies each run has, save those that are cut.
        latency_s: How long a reply takes on average.
        bad_share: Of the replies, those that one of `bad` befalls.
        bad: What befalls them: an ending of the stream, `cut` for a reply cut in a call's JSON by its length, `empty` for
            one without words and calls, `end_turn` for calls with that stop reason, or a fault of the stream.
        weak_runs: Those whose model makes the same call with each reply.
        poisonous_runs: Those whose next reply calls a tool that kills the worker.
    """

    seed: int
    turns: int = 8
    latency_s: float = 0.15
    bad_share: float = 0.3
    bad: tuple[str, ...] = ()
    gateway: Fails | None = None  # answers in place of the model
    weak_runs: frozenset[str] = frozenset()
    poisonous_runs: frozenset[str] = frozenset()
    slow_runs: frozenset[str] = frozenset()  # those that save a slow node with each reply
    asks: Counter[tuple[str, int]] = field(default_factory=Counter)

    async def __call__(self, request: dict[str, Any]) -> Says | Fails:
        run, number = run_of(request), turn(request)
        self.asks[run, number] += 1
        chance = random.Random(f"{self.seed}:{run}:{number}:{side_question(request)}")
        await asyncio.sleep(chance.uniform(0.5, 1.5) * self.latency_s)
        if self.gateway is not None:
            return self.gateway
        usage = {"input_tokens": 100 + number, "output_tokens": chance.randrange(1, 100)}
        if side_question(request):
            return Says((_scores(),), "tool_use", usage)
        bad = chance.choice(self.bad) if self.bad and chance.random() < self.bad_share else ""
        if run in self.weak_runs:
            return Says((call("notes", title=run, text="Words."),), "tool_use", usage)
        if run in self.poisonous_runs:
            return Says((call("swallow"),), "tool_use", usage)
        if bad == "empty" and self.asks[run, number] == 1:
            return Says((), usage=usage)
        if bad and bad not in set(Ending) | {"cut", "empty", "end_turn"}:
            if self.asks[run, number] == 1:
                return Fails(stream=bad)
            bad = ""
        if bad == "cut" and number < self.turns - 1:
            return Says((text("I note this."), cut_call("notes", '{"title": "no en')), "max_tokens", usage)
        ending = Ending(bad) if bad in set(Ending) else Ending.CLEAN
        if number >= self.turns - 1:
            return Says((text("done"),), usage=usage, ending=ending)
        stop = "end_turn" if bad == "end_turn" else "tool_use"
        return Says(tuple(self._calls(run, number, chance)), stop, usage, ending=ending)

    def _calls(self, run: str, number: int, chance: random.Random) -> list[Block]:
        if run in self.slow_runs:
            return [_node(run, f"{SLOW_TITLE} {run} {number}")]
        return [
            _write(chance, run, f"{run} turn {number}, call {place}")
            for place in range(chance.choice((1, 1, 2)))
        ]


CRITERION = {"name": "clear", "description": "5 is clear, 1 is not."}


def run_of(request: dict[str, Any]) -> str:
    """The run whose conversation, or whose tool's question, a request holds."""
    match = RUN.search(str(request["messages"][0]["content"]))
    assert match is not None, "a conversation that is none of this test"
    return match[0]


def side_question(request: dict[str, Any]) -> str:
    """What a tool asks, or nothing."""
    is_side = [tool.get("name") for tool in request.get("tools", ())] == [JUDGE]
    return str(request["messages"][0]["content"]) if is_side else ""


def subject_of(run: str) -> str:
    """The subject of a run, which follows from its number."""
    return SUBJECTS[int(run.rpartition("r")[2]) % len(SUBJECTS)]


def _write(chance: random.Random, run: str, title: str) -> Block:
    match chance.choices(("node", "note", "evaluation"), weights=(4, 4, 1))[0]:
        case "node":
            return _node(run, title)
        case "note":
            return call("notes", title=title, text="Words.")
    return call("evaluation", text=f"Words of {title}.", criteria=[CRITERION])


def _node(run: str, title: str) -> Block:
    return call(
        "save_knowledge_node", subject_id=subject_of(run), title=title, description="A node of a test."
    )


def _scores() -> Block:
    score = {"criterion": CRITERION["name"], "score": 3, "reason": "It is short.", "quote": ""}
    return call(JUDGE, scores=[score])
