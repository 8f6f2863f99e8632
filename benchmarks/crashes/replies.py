"""What the model of a crash test says: it follows from the seed, the run and the turn alone."""

import random
from dataclasses import dataclass
from typing import Any

SUBJECT = "chaos"


@dataclass(frozen=True, slots=True)
class Write:
    """One tool call that writes a row. `mark` stands in the row, and is the same whenever the turn is answered."""

    mark: str
    tool: str

    def arguments(self, *, node_id: str, call: int) -> dict[str, Any]:
        """What the tool is called with; the number of the model call is in it, so that no two are alike."""
        if self.tool == "record_write":
            return {"node_id": node_id, "mark": self.mark, "call": call}
        return {"subject_id": SUBJECT, "title": f"{self.mark} call {call}", "description": "Written once."}


def writes(seed: int, run: str, turn: int, *, turns: int) -> list[Write]:
    """The tool calls of a turn, one to four side by side; none in the last turn."""
    if turn >= turns - 1:
        return []
    chance = random.Random(f"{seed}:{run}:{turn}")
    count = chance.choice((1, 1, 2, 4))
    tools = [chance.choice(("record_write", "record_write", "save_knowledge_node")) for _ in range(count)]
    return [Write(f"{run}/{turn:02}/{n}", tool) for n, tool in enumerate(tools)]


def topic(run: str, node_id: str) -> str:
    """A topic that tells the model which run it plays and where to write."""
    return f"{run} of node {node_id}"
