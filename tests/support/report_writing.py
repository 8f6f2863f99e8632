"""Runs of the writer: submitted on a batch, played by a script, by a perfect judge, or by the offline researcher."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.offline import OfflineServer, serve
from chiron_workers.tools import registry
from support.research_rows import NOON, Shelf
from support.run_harness import Stage
from support.scripted_model import Block, call

OPEN = "Satellites measure the freeboard of sea ice."
AGE = "Ice that is older than four years is thicker than young ice."
MEAN = "In winter 2023 Arctic sea ice was 1.9 m thick on average."
OPPOSITE = "In winter 2023 Arctic sea ice was 2.4 m thick on average."


@dataclass(frozen=True)
class Batch:
    """A batch of research with facts of every kind, and a fact of another subject."""

    id: UUID
    run: UUID
    freeboard: UUID
    age: UUID
    mean: UUID
    opposite: UUID
    candidate: UUID
    withdrawn: UUID
    stranger: UUID


def researched_batch(shelf: Shelf) -> Batch:
    """A batch as research left it."""
    shelf.subject("sea-ice", "Sea ice")
    batch = shelf.batch("sea-ice", "How thick is Arctic sea ice?")
    run = shelf.run("sea-ice", batch, "How thick is Arctic sea ice?", answer="It is thin.")

    def fact(content: str, path: str, **more: Any) -> UUID:
        url = f"https://example.org/{path}"
        return shelf.fact(
            "sea-ice", content, url, path, quote=content, text=f"{content} Much more.", run_id=run, **more
        )

    freeboard, age = (
        fact(OPEN, "methods/satellites", confidence=0.85),
        fact(AGE, "thickness/age", confidence=0.8),
    )
    mean = fact(MEAN, "thickness/mean", status="disputed", confidence=0.6)
    opposite = fact(OPPOSITE, "thickness/mean-2", status="disputed", confidence=0.5)
    shelf.link(opposite, mean, "contradicts")
    candidate = fact("Sea ice may be gone by 2050.", "future", status="candidate", confidence=0.3)
    withdrawn = fact("Sea ice is salty all through.", "salt", status="withdrawn")
    shelf.subject("birds", "Birds")
    stranger = shelf.fact("birds", "Ducks dive for food.", "https://example.org/ducks")
    return Batch(batch, run, freeboard, age, mean, opposite, candidate, withdrawn, stranger)


def cited(text: str, *facts: UUID | str) -> dict[str, Any]:
    """A sentence with its facts."""
    return {"text": text, "facts": [str(fact) for fact in facts]}


def section(place: int, *sentences: dict[str, Any], title: str = "Findings") -> Block:
    """A call that writes a section."""
    return call("write_section", place=place, title=title if place else "", sentences=list(sentences))


async def submit_report(
    stage: Stage, scope: UUID | str, *, subject: str = "Sea ice", max_turns: int = 30
) -> UUID:
    """A queued run of the writer on a batch, a run or a subject."""
    stage.registry = registry()
    run = NewRun("How thick is it?", "writer", subject, stage.model_name, max_turns, scope=str(scope))
    return (await submit(stage.pool, NewBatch([run], subject))).run_ids[0]


@asynccontextmanager
async def offline_model(stage: Stage) -> AsyncIterator[None]:
    """The offline researcher as the stage's model."""
    async with serve(OfflineServer()) as stage.server.url:
        stage.model_name = "offline"
        yield


def written_report(shelf: Shelf, batch: Batch, *sections: tuple[str, list[tuple[str, list[UUID]]]]) -> UUID:
    """A report on the batch as a run of the writer left it; its run."""
    run = shelf.run(
        "sea-ice",
        shelf.batch("sea-ice", "Report"),
        "How thick?",
        role="writer",
        scope=str(batch.id),
        answer="Done.",
    )
    for place, (title, sentences) in enumerate(sections):
        shelf.insert(
            "draft_sections", run_id=run, place=place, title=title, call_id="toolu_1", title_verdict_by="m"
        )
        for n, (text, fact_ids) in enumerate(sentences, start=1):
            shelf.insert(
                "draft_sentences", run_id=run, place=place, n=n, text=text, fact_ids=fact_ids,
                verdict_reason="It is so.", verdict_by="claude-opus-5-5",
            )  # fmt: skip
    shelf.insert("drafts", run_id=run, handed_in_at=NOON)
    return run
