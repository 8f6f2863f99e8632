"""How well the rules tell how two statements stand to each other, on labelled pairs.

The pairs were written and labelled by somebody who had not seen the rules, and halved at random. The rules were
fitted to the development half alone; the held-out half scored them once, and then said which of them earn nothing and
go. Precision of a relation: of the pairs that the rules answer with it, the share labelled so. Recall: of the pairs
labelled so, the share that the rules answer with it. Pairs that the rules leave open count against recall only:
there, the run's model is asked.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from chiron_workers.evidence.statements.relation import RelationVerdict, relate
from chiron_workers.states import Relation

PAIRS = Path(__file__).parent.parent / "tests" / "evidence"
OPEN = "open"


@dataclass(frozen=True)
class Pair:
    """Two statements, how the new one stands to the known one, and what was done to make it so."""

    id: str
    new: str
    known: str
    label: Relation
    kind: str


@dataclass
class Score:
    """What the rules answered, by label."""

    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[tuple[Pair, RelationVerdict]] = field(default_factory=list)

    def add(self, pair: Pair, verdict: RelationVerdict) -> None:
        self.answers[pair.label, verdict.relation or OPEN] += 1
        if verdict.relation not in {None, pair.label}:
            self.wrong.append((pair, verdict))

    def precision(self, answer: str) -> float:
        """1 where nothing was answered so."""
        given = sum(count for (_, answered), count in self.answers.items() if answered == answer)
        return self.answers[answer, answer] / given if given else 1.0

    def recall(self, label: str) -> float:
        labelled = sum(count for (was, _), count in self.answers.items() if was == label)
        return self.answers[label, label] / labelled if labelled else 0.0

    @property
    def decided(self) -> float:
        """The share of pairs that the rules do not leave open."""
        left = sum(count for (_, answered), count in self.answers.items() if answered == OPEN)
        return 1 - left / sum(self.answers.values())

    @property
    def right(self) -> float:
        """The share of the decided pairs that is decided as labelled."""
        decided = sum(count for (_, answered), count in self.answers.items() if answered != OPEN)
        return 1 - len(self.wrong) / decided if decided else 1.0

    def table(self) -> str:
        """A row for each label, a column for each answer, precision and recall behind them."""
        answers = [*Relation, OPEN]
        lines = [
            f"{'labelled':<12}" + "".join(f"{answer:>12}" for answer in answers) + "   precision   recall"
        ]
        for label in Relation:
            counts = "".join(f"{self.answers[label, answer]:>12}" for answer in answers)
            lines.append(f"{label:<12}{counts}{self.precision(label):>12.3f}{self.recall(label):>9.3f}")
        return "\n".join([*lines, f"decided {self.decided:.1%}, of these as labelled {self.right:.1%}"])


def pairs(half: str) -> list[Pair]:
    """The labelled pairs of a half: development or held_out."""
    lines = (PAIRS / f"pairs_{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Pair(**json.loads(line) | {"label": Relation(json.loads(line)["label"])}) for line in lines]


def scored(labelled: Iterable[Pair]) -> Score:
    """What the rules make of labelled pairs."""
    score = Score()
    for pair in labelled:
        score.add(pair, relate(pair.new, pair.known))
    return score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("half", choices=["development", "held_out"], nargs="?", default="development")
    half = parser.parse_args().half
    labelled = pairs(half)
    scored(labelled[:1])  # the first one loads the stemmer
    began = time.perf_counter()
    score = scored(labelled)
    ms = 1000 * (time.perf_counter() - began) / len(labelled)
    print(f"{len(labelled)} pairs of the {half} half, {ms:.2f} ms each\n\n{score.table()}")
    for pair, verdict in score.wrong:
        print(f"\n{pair.id} {pair.kind}: {pair.label}, answered {verdict.relation}: {verdict.reason}")
        print(f"  new:   {pair.new}\n  known: {pair.known}")


if __name__ == "__main__":
    main()
