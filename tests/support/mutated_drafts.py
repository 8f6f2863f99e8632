"""200 drafts in each of which one sentence has gone wrong, and what became of them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import UUID

from chiron_workers.states import Outcome
from support.generated_drafts import MUTATIONS, MadeFact, World
from support.report_writing import cited
from support.run_harness import Stage
from support.scripted_model import Block, Says, call, calls, says, turn

DRAFTS = 200
CALLS_AT_ONCE = 10
STATEMENT = re.compile(r"^Number (\d+)\n(.*?)(?=^Number \d+$|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Mutated:
    """A draft of true sentences, the place-th of which was mutated."""

    kind: str
    sentences: list[dict[str, Any]]
    place: int

    @property
    def text(self) -> str:
        return str(self.sentences[self.place - 1]["text"])


def mutated_drafts(world: World, random: Random, *, in_own_words: bool) -> list[Mutated]:
    """200 drafts, of each kind of mutation as many, in the facts' own words or in others."""

    def words(fact: MadeFact) -> str:
        return fact.content if in_own_words else fact.reworded

    drafts = []
    for n in range(DRAFTS):
        kind = list(MUTATIONS)[n % len(MUTATIONS)]
        facts = random.sample(world.facts, random.randrange(3, 7))
        sentences = [cited(words(fact), fact.id) for fact in facts]
        place = random.randrange(len(facts))
        sentences[place] = MUTATIONS[kind](world, facts[place], words(facts[place]), random)
        drafts.append(Mutated(kind, sentences, place + 1))
    return drafts


def judge_of(true_sentences: set[str] | None) -> Any:
    """A judge that supports these sentences and no other, and every heading; without them, one that supports all."""

    def judge(request: dict[str, Any]) -> Says:
        question = request["messages"][0]["content"]
        words = question if isinstance(question, str) else "".join(block["text"] for block in question)
        entries = []
        for number, item in STATEMENT.findall(words):
            is_true = (
                true_sentences is None
                or not item.startswith("kind: sentence")
                or any(text in item.partition("</statement-")[0] for text in true_sentences)
            )
            entries.append(
                {
                    "number": int(number),
                    "verdict": "supported" if is_true else "silent",
                    "reason": "As judged.",
                }
            )
        return calls(call("give_verdicts", verdicts=entries))

    return judge


async def answers(stage: Stage, run_id: UUID, blocks: Sequence[Block], judge: Any) -> list[str]:
    """What each call was answered, in one run that makes them all."""
    pages = [blocks[start : start + CALLS_AT_ONCE] for start in range(0, len(blocks), CALLS_AT_ONCE)]
    results: dict[str, str] = {}

    def script(request: dict[str, Any]) -> Says:
        for block in request["messages"][-1]["content"]:
            if block["type"] == "tool_result":
                results[block["tool_use_id"]] = str(block["content"])
        n = turn(request)
        return calls(*pages[n]) if n < len(pages) else says("Done.")

    await stage.model(script, judge=judge)
    await stage.rows("update runs set max_turns = 100 where id = %s returning 1", run_id)
    assert await stage.play(run_id) is Outcome.FAILED  # nothing was handed in
    return [results[block["id"]] for block in blocks]


def caught(drafts: list[Mutated], replies: list[str]) -> Counter[str]:
    """How many drafts of each kind were refused for the mutated sentence and for no other."""
    counts: Counter[str] = Counter()
    for draft, reply in zip(drafts, replies, strict=True):
        numbers = [int(number) for number in re.findall(r"^Sentence (\d+):", reply, re.MULTILINE)]
        assert numbers in ([], [draft.place]), (draft, reply)
        counts[draft.kind] += bool(numbers)
    return counts


def kinds(drafts: list[Mutated]) -> Counter[str]:
    return Counter(draft.kind for draft in drafts)
