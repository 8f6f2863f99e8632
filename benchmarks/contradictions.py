"""Whether planted conflicts are asked about and linked: `uv run python benchmarks/contradictions.py [--buildings N]`.

A corpus of invented buildings, a document for each property. Some say otherwise than another document, some say the same, in
other words. Each is stored through `Facts.add` with a judge that is always right, so what is missed is the plumbing's:
neighbours that were not found, not asked about, or not linked.
"""

import argparse
import asyncio
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from figures import begin, table
from services import services

from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.embeddings import open_embedder
from chiron_workers.knowledge.facts.claims import Claim, Place
from chiron_workers.knowledge.facts.judgements import ANSWER
from chiron_workers.runs.entries import Reply
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.sources.sources import Page, Sources
from chiron_workers.states import Relation
from chiron_workers.store import Store

SEED = 4711
SUBJECT = "buildings"
SYLLABLES = (
    "bran",
    "dol",
    "fel",
    "gur",
    "hask",
    "jor",
    "kel",
    "lund",
    "mor",
    "nask",
    "ost",
    "pell",
    "rath",
    "sund",
)
KINDS = ("Tower", "Bridge", "Library", "Station", "Castle")
# Wordings of one property; the first is that of the documents, the others those of conflicts and repetitions.
WORDINGS = {
    "height": (
        "{name} is {value} metres tall.",
        "From base to top, {name} measures {value} m.",
        "Guides give the height of {name} as {value} metres.",
    ),
    "opening": (
        "{name} opened in {value}.",
        "The inauguration of {name} took place in {value}.",
        "Visitors were first let into {name} in {value}.",
    ),
    "architect": (
        "{name} was designed by {value}.",
        "{value} drew the plans for {name}.",
        "As the architect of {name}, {value} became known.",
    ),
    "owner": (
        "{name} belongs to the {value} family.",
        "The {value} family owns {name}.",
        "Proprietors of {name}: the {value} family.",
    ),
    "material": (
        "{name} is built of {value}.",
        "The walls of {name} consist of {value}.",
        "For {name} its builders chose {value}.",
    ),
}
MATERIALS = ("granite", "brick", "limestone", "timber", "concrete", "sandstone")
MARKED = re.compile(r"<(new|known)-[0-9a-f]+>\n(.*?)\n</", re.DOTALL)


@dataclass(frozen=True)
class Statement:
    """What a document says of one property of one building; `role` is base, conflict or repetition."""

    name: str
    attribute: str
    value: str
    words: str
    role: str


@dataclass
class Judge:
    """Answers every question rightly, and remembers which pairs it was asked about."""

    statements: dict[str, Statement]
    model_name: str = "judge"
    pairs: set[frozenset[str]] = field(default_factory=set)
    questions: int = 0
    chars: int = 0

    async def ask(
        self, question: str, *, tools: Sequence[dict[str, Any]], max_tokens: int, model: str = ""
    ) -> Reply:
        self.questions += 1
        self.chars += len(question)
        passages = MARKED.findall(question)
        [new] = [words for mark, words in passages if mark == "new"]
        entries = []
        for number, words in enumerate((words for mark, words in passages if mark == "known"), start=1):
            self.pairs.add(frozenset((new, words)))
            relation = self.relation(self.statements[new], self.statements[words])
            entries.append({"number": number, "relation": relation, "reason": "It is known."})
        block = {"type": "tool_use", "id": "toolu_1", "name": ANSWER, "input": {"relations": entries}}
        return Reply((block,), "tool_use")

    def relation(self, new: Statement, known: Statement) -> Relation:
        """How two statements stand to each other in truth."""
        if (new.name, new.attribute) != (known.name, known.attribute):
            return Relation.NEW
        return Relation.SAME if new.value == known.value else Relation.CONTRADICTS


def corpus(buildings: int, random_source: random.Random) -> list[Statement]:
    """Five base statements for each building, and one conflict and one repetition, in random order."""
    pairs = [f"{first}{second}".capitalize() for first, second in product(SYLLABLES, SYLLABLES)]
    names = random_source.sample(pairs, len(pairs))
    statements = []
    for place in range(buildings):
        name = f"{names[place]} {KINDS[place % len(KINDS)]}"
        values = {attribute: _values(attribute, names, random_source) for attribute in WORDINGS}
        for attribute, (value, _) in values.items():
            statements.append(_statement(name, attribute, value, 0, "base"))
        contested, repeated = random_source.sample(list(WORDINGS), 2)
        wording = 1 + place % 2
        statements.append(_statement(name, contested, values[contested][1], wording, "conflict"))
        statements.append(_statement(name, repeated, values[repeated][0], wording, "repetition"))
    random_source.shuffle(statements)
    return statements


def _statement(name: str, attribute: str, value: str, wording: int, role: str) -> Statement:
    return Statement(
        name, attribute, value, WORDINGS[attribute][wording].format(name=name, value=value), role
    )


def _values(attribute: str, names: Sequence[str], random_source: random.Random) -> list[str]:
    """Two values of a property that cannot both be true."""
    match attribute:
        case "height":
            return [str(value) for value in random_source.sample(range(20, 400), 2)]
        case "opening":
            return [str(value) for value in random_source.sample(range(1700, 2000), 2)]
        case "material":
            return random_source.sample(MATERIALS, 2)
    return [f"{name}son" for name in random_source.sample(names, 2)]


async def store(pool: Pool, statements: Sequence[Statement], judge: Judge) -> None:
    """Store each statement as a fact with a verified quote, from a source of its own."""
    embedder = open_embedder(settings())
    for number, statement in enumerate(statements):
        url = f"https://source{number}.example/"
        async with Session(pool) as session:
            digest = await Sources(session).save(Page(url, statement.words, "text/plain", title="A page"))
        claim = Claim(
            SUBJECT, statement.words, url, 0.9, "buildings", 0.9, quote=statement.words,
            place=Place(digest, 0, len(statement.words)),
        )  # fmt: skip
        async with Store(Session(pool), embedder, judge) as session_store:
            await session_store.facts.add(claim)


async def measure(buildings: int) -> dict[str, float]:
    """Store the corpus; how many planted pairs were asked about or decided by rules, and how many are linked."""
    statements = corpus(buildings, random.Random(SEED))
    judge = Judge({statement.words: statement for statement in statements})
    async with open_pool(settings().database_url, size=4) as pool:
        await store(pool, statements, judge)
        async with pool.connection() as connection:
            query = """select a.content as one, b.content as other, l.decided_by from fact_links l
                         join facts a on a.id = l.fact_id join facts b on b.id = l.other_id
                        where l.relation = 'contradicts'"""
            links = await (await connection.execute(query)).fetchall()
            [row] = await (
                await connection.execute("select count(*) as joined from corroborations")
            ).fetchall()
    base = {(item.name, item.attribute): item for item in statements if item.role == "base"}
    conflicts = [item for item in statements if item.role == "conflict"]
    planted = {frozenset((item.words, base[item.name, item.attribute].words)) for item in conflicts}
    linked = {frozenset((link["one"], link["other"])) for link in links}
    by_rules = {frozenset((link["one"], link["other"])) for link in links if link["decided_by"] == "rules"}
    return {
        "documents": len(statements),
        "conflicts": len(planted),
        "asked or decided by rules": len(planted & (judge.pairs | by_rules)),
        "linked": len(planted & linked),
        "linked wrongly": len(linked - planted),
        "repetitions joined": row["joined"],
        "questions": judge.questions,
        "pairs asked about": len(judge.pairs),
        "characters of a question": judge.chars / max(judge.questions, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--buildings", type=int, default=40, help="How many; each has 7 documents.")
    with begin(parser) as (arguments, report), services():
        figures = asyncio.run(measure(arguments.buildings))
        report.figures = {"contradictions": [figures]}
        table(
            "Planted conflicts", ["", "count"], [[name, f"{value:,.0f}"] for name, value in figures.items()]
        )


if __name__ == "__main__":
    main()
