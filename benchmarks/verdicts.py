"""Whether facts that their quotes do not support are caught: `uv run python benchmarks/verdicts.py [--set NAME=PLACE]`.

Mutations go through the tool `store_knowledge` with its commit, once without a model (the rules alone) and once with a judge
that is always right, so what gets through then is Chiron's fault. Published sets (`--set wice=FILE`, `--set
scifact=FOLDER`, `--set healthver=FILE`, `--set climate-fever=FILE`) are put to the rules alone, to a judge that is always
right, and with `--model NAME` to any server of the Messages API: set ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY. A claim
is caught if it is refused or hidden.
"""

import argparse
import asyncio
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from claim_sets import LabelledClaim, climate_fever, healthver, mutations, scifact, wice
from figures import Report, begin, table
from services import services

from chiron_workers.billing.prices import cost_usd
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.embeddings import Embedder, open_embedder
from chiron_workers.errors import ToolError
from chiron_workers.evidence.statements.support import judge_by_rules
from chiron_workers.knowledge.facts import judgements
from chiron_workers.knowledge.facts.verdicts import (
    ANSWER,
    ANSWER_TOOL,
    ENTRY_TOKENS,
    FRAME_TOKENS,
    ITEMS_MAX,
    Evidence,
    parse_findings,
    question,
)
from chiron_workers.runs.entries import Reply, Usage
from chiron_workers.runs.session import Caller, Session, SideModel
from chiron_workers.runs.turns import Turn
from chiron_workers.settings import settings
from chiron_workers.sources.sources import Page, Sources
from chiron_workers.states import SHOWN_STATUSES, Verdict
from chiron_workers.store import Store
from chiron_workers.tools.knowledge import store_knowledge

SEED = 20_261
SETS: Mapping[str, Callable[[Path], list[LabelledClaim]]] = {
    "wice": wice,
    "scifact": scifact,
    "healthver": healthver,
    "climate-fever": climate_fever,
}
MARKED = re.compile(r"<(statement|quote)-[0-9a-f]+>\n(.*?)\n</", re.DOTALL)
CHARS_PER_TOKEN = 4
FACTS_PER_REPLY = 4
PRICED_MODELS = ("claude-opus-5-5", "claude-haiku-4-5")


@dataclass(slots=True)
class PerfectJudge:
    """Answers every question about a claim with the verdict it deserves, and counts what that took."""

    labels: Mapping[tuple[str, str], Verdict]
    model_name: str = "judge"
    questions: int = 0
    chars_in: int = 0
    chars_out: int = 0

    async def ask(
        self, question: str, *, tools: Sequence[dict[str, Any]], max_tokens: int, model: str = ""
    ) -> Reply:
        if tools[0]["name"] == judgements.ANSWER:
            return Reply(({"type": "text", "text": "I cannot tell."},), "end_turn")
        self.questions += 1
        self.chars_in += len(question) + len(str(tools))
        passages = MARKED.findall(question)
        statements = [words for name, words in passages if name == "statement"]
        quotes = [words for name, words in passages if name == "quote"]
        entries = [
            {
                "number": number,
                "verdict": self.labels[pair],
                "reason": "The quote says less than the statement.",
            }
            for number, pair in enumerate(zip(statements, quotes, strict=True), start=1)
        ]
        self.chars_out += len(str(entries))
        block = {"type": "tool_use", "id": "toolu_1", "name": ANSWER, "input": {"verdicts": entries}}
        return Reply((block,), "tool_use")

    def tokens(self) -> Usage:
        """What the questions came to, at four characters a token."""
        return Usage(
            input_tokens=self.chars_in // CHARS_PER_TOKEN, output_tokens=self.chars_out // CHARS_PER_TOKEN
        )


@dataclass(slots=True)
class Score:
    """How many claims that are true, and that are not, were caught or let through."""

    caught: Counter[bool] = field(default_factory=Counter)
    claims: Counter[bool] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)

    def add(self, claim: LabelledClaim, *, is_caught: bool) -> None:
        self.claims[claim.is_true] += 1
        self.caught[claim.is_true] += is_caught
        if not claim.is_true and not is_caught:
            self.missed[f"{claim.kind} ({claim.language})"] += 1

    def figures(self) -> dict[str, float]:
        """Precision: the share of caught claims that are unsupported. Recall: the share of unsupported claims that are caught."""
        caught = self.caught[True] + self.caught[False]
        return {
            "not supported": self.claims[False],
            "caught": self.caught[False],
            "supported": self.claims[True],
            "caught wrongly": self.caught[True],
            "precision": self.caught[False] / max(caught, 1),
            "recall": self.caught[False] / max(self.claims[False], 1),
        }


@dataclass(frozen=True, slots=True)
class Library:
    """Where claims are stored: each in a subject of its own, so that none is held against another."""

    pool: Pool
    embedder: Embedder

    async def is_shown(self, claim: LabelledClaim, judge: SideModel | None, prefix: str) -> bool:
        """Store a claim whose quote is a page of its own, and say whether a search shows it."""
        digest = hashlib.sha256(f"{claim.evidence.statement}|{claim.evidence.quote}".encode()).hexdigest()
        url = f"https://doi.org/10.1000/{digest[:16]}"
        async with Session(self.pool) as session:
            await Sources(session).save(Page(url, claim.evidence.quote, "text/plain", title="A page"))
        subject_id = f"{prefix}-{digest[:24]}"
        try:
            async with Store(Session(self.pool), self.embedder, judge) as store:
                receipt = await store_knowledge(
                    store, content=claim.evidence.statement, subject_id=subject_id, source_url=url, source_score=0.9,
                    topic_path="all", confidence=0.9, quote=claim.evidence.quote,
                )  # fmt: skip
        except ToolError:
            return False
        async with Store(Session(self.pool), self.embedder) as store:
            return await store.facts.status(receipt["fact_id"]) in SHOWN_STATUSES


async def measure_mutations(library: Library, repeats: int, report: Report) -> None:
    """Store every mutation and every truth with the rules alone, then with a judge that is always right."""
    claims = mutations(repeats, SEED)
    judge = PerfectJudge({(item.evidence.statement, item.evidence.quote): item.label for item in claims})
    judges: dict[str, SideModel | None] = {"rules alone": None, "with a perfect judge": judge}
    for name, asked in judges.items():
        score = Score()
        languages = {claim.language: Score() for claim in claims}
        for claim in claims:
            is_caught = not await library.is_shown(claim, asked, name[:5].strip())
            score.add(claim, is_caught=is_caught)
            languages[claim.language].add(claim, is_caught=is_caught)
        report.figures[f"mutations, {name}"] = [score.figures()]
        report.figures |= {
            f"mutations, {name}, {language}": [each.figures()] for language, each in languages.items()
        }
        missed = ", ".join(f"{kind} {count}" for kind, count in score.missed.most_common(60))
        print(f"mutations, {name}: not caught: {missed or 'none'}", flush=True)


async def measure_cost(library: Library, repeats: int, report: Report) -> None:
    """What a verdict costs a fact: asked about alone, in one question a reply, and when its verdict is stored."""
    claims = [claim for claim in mutations(repeats, SEED + 1) if claim.is_true]
    evidence = [claim.evidence for claim in claims]
    labels = {(item.statement, item.quote): Verdict.SUPPORTED for item in evidence}
    alone, batched, once_more = PerfectJudge(labels), PerfectJudge(labels), PerfectJudge(labels)
    for item in evidence:
        await alone.ask(question([item]), tools=[ANSWER_TOOL], max_tokens=1)
    await _store_by_replies(library, evidence, batched)
    await _store_by_replies(library, evidence, once_more)
    named_judges = {"asked alone": alone, "one question a reply": batched, "again": once_more}
    for name, judge in named_judges.items():
        usage = judge.tokens()
        costs = {
            f"USD a fact, {model}": float(_cost(model, usage)) / len(evidence) for model in PRICED_MODELS
        }
        counts = {
            "facts": len(evidence),
            "calls a fact": judge.questions / len(evidence),
            "tokens in a fact": usage.input_tokens / len(evidence),
            "tokens out a fact": usage.output_tokens / len(evidence),
        }
        report.figures[f"cost, {name}"] = [counts | costs]


async def _store_by_replies(library: Library, evidence: Sequence[Evidence], judge: SideModel) -> None:
    for start in range(0, len(evidence), FACTS_PER_REPLY):
        page = evidence[start : start + FACTS_PER_REPLY]
        turn = Turn(str(number) for number in range(len(page)))
        async with asyncio.TaskGroup() as group:
            for number, item in enumerate(page):
                group.create_task(_judge(library, item, judge, turn, str(number)))


async def _judge(library: Library, item: Evidence, judge: SideModel, turn: Turn, call_id: str) -> None:
    session = Session(library.pool, Caller(call_id=call_id))
    async with Store(session, library.embedder, judge, turn) as store:
        await store.verdicts.judge(item)
    turn.leave(call_id)


def _cost(model: str, usage: Usage) -> Decimal:
    return cost_usd(model, usage, {}) or Decimal()


async def measure_set(
    library: Library, name: str, claims: Sequence[LabelledClaim], model: str, report: Report
) -> None:
    """Put the claims of a published set to the rules alone, to a judge that is always right, and to a model if one is named."""
    labels = {(claim.evidence.statement, claim.evidence.quote): claim for claim in claims}
    claims = list(labels.values())
    score, verdicts = Score(), Counter[str]()
    for claim in claims:
        finding = await asyncio.to_thread(judge_by_rules, claim.evidence.statement, claim.evidence.quote)
        verdict = finding.verdict if finding else Verdict.UNCHECKED
        verdicts[f"{verdict}{', supported' if claim.is_true else ''}"] += 1
        score.add(claim, is_caught=verdict.is_doubt)
    confirmed = sum(count for verdict, count in verdicts.items() if verdict.startswith(Verdict.SUPPORTED))
    contradicted = {"contradicted wrongly": verdicts[f"{Verdict.CONTRADICTED}, supported"]}
    report.figures[f"{name}, rules alone"] = [score.figures() | {"confirmed": confirmed} | contradicted]
    report.figures[f"{name}, with a perfect judge"] = [await _judge_set(library, claims)]
    if model:
        report.figures[f"{name}, {model}"] = [await _ask_server(claims, model)]


async def _judge_set(library: Library, claims: Sequence[LabelledClaim]) -> dict[str, float]:
    judge = PerfectJudge({(claim.evidence.statement, claim.evidence.quote): claim.label for claim in claims})
    score, exact = Score(), 0
    for start in range(0, len(claims), ITEMS_MAX):
        page = claims[start : start + ITEMS_MAX]
        async with Store(Session(library.pool), library.embedder, judge) as store:
            findings = await store.verdicts.judge_all([claim.evidence for claim in page])
        for claim, finding in zip(page, findings, strict=True):
            exact += finding.verdict is claim.label
            score.add(claim, is_caught=finding.verdict.is_doubt)
    return score.figures() | {"verdict as labelled": exact / max(len(claims), 1)}


async def _ask_server(claims: Sequence[LabelledClaim], model: str) -> dict[str, float]:
    from anthropic import AsyncAnthropic

    score = Score()
    exact, answered = 0, 0
    async with AsyncAnthropic() as client:
        for start in range(0, len(claims), ITEMS_MAX):
            page = claims[start : start + ITEMS_MAX]
            message = await client.messages.create(
                model=model,
                max_tokens=FRAME_TOKENS + ENTRY_TOKENS * len(page),
                messages=[{"role": "user", "content": question([claim.evidence for claim in page])}],
                tools=[ANSWER_TOOL],  # type: ignore[list-item]
            )
            blocks = tuple(block.model_dump() for block in message.content)
            for claim, finding in zip(
                page, parse_findings(Reply(blocks, message.stop_reason or ""), len(page)), strict=True
            ):
                verdict = finding.verdict if finding else Verdict.UNCHECKED
                answered += finding is not None
                exact += verdict is claim.label
                score.add(claim, is_caught=verdict.is_doubt)
    counts = {"answered": answered / max(len(claims), 1), "verdict as labelled": exact / max(len(claims), 1)}
    return score.figures() | counts


async def measure(arguments: argparse.Namespace, report: Report) -> None:
    async with open_pool(settings().database_url, size=8) as pool:
        library = Library(pool, open_embedder(settings()))
        for place in arguments.set:
            name, _, path = place.partition("=")
            await measure_set(library, name, SETS[name](Path(path)), arguments.model, report)
        await measure_cost(library, max(1, arguments.repeats // 4), report)
        await measure_mutations(library, arguments.repeats, report)


def print_tables(report: Report) -> None:
    for title, prefix in (("Verdicts", ("mutations", *SETS)), ("Cost of verdicts", ("cost",))):
        figures = {
            name: repeats[0] for name, repeats in report.figures.items() if name.startswith(tuple(prefix))
        }
        columns = list(dict.fromkeys(key for each in figures.values() for key in each))
        rows = [[name, *(_cell(each.get(key)) for key in columns)] for name, each in figures.items()]
        table(title, ["", *columns], rows)


def _cell(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}" if value >= 0.01 else f"{value:.6f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10, help="Fillings of each of the 130 sentences.")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=PLACE",
        help="wice=FILE, scifact=FOLDER, healthver=FILE, climate-fever=FILE",
    )
    parser.add_argument(
        "--model", default="", help="Ask this model of ANTHROPIC_BASE_URL about the sets, too."
    )
    server = {
        name: os.environ[name] for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY") if name in os.environ
    }
    with begin(parser) as (arguments, report), services():
        os.environ.update(server)
        asyncio.run(measure(arguments, report))
        print_tables(report)


if __name__ == "__main__":
    main()
