"""The demo of research: eight topics in one batch."""

import asyncio
import json
import time

import typer
from psycopg.rows import DictRow

from chiron_api.cli.demo.home import HONESTY, SUBJECT, DemoHome
from chiron_api.cli.display.progress import show_events
from chiron_api.text import one_line
from chiron_workers.batches.submit import NewBatch, NewRun, Submitted, submit
from chiron_workers.batches.summaries import BatchSummary, summary
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import ChironError
from chiron_workers.knowledge.facts.facts import best_of_runs
from chiron_workers.runs.session import Session
from chiron_workers.settings import OFFLINE_MODEL, settings
from chiron_workers.states import RunState

HINT_TO_KEEP = (
    "All of this is gone with its folder. To keep it: `chiron demo --keep` leaves the page open until Ctrl+C, "
    "`chiron demo --learn` leaves its home, and `chiron up` keeps what you research yourself."
)
TOPICS = (
    "How does an assignment statement bind names to objects?",
    "What happens when an exception is raised inside a try statement with a finally clause?",
    "What does the with statement guarantee about context managers?",
    "How do generators and the yield expression suspend execution?",
    "How does the import statement find and load a module?",
    "What does the format specification mini-language control?",
    "How are class definitions executed and what does a metaclass do?",
    "How are arguments of a call bound to the parameters of a function?",
)


def research(home: DemoHome, began: float) -> None:
    """Research the topics, tell what was found, and remove everything.

    Args:
        began: When the command was called, on the monotonic clock.

    Raises:
        ChironError: A run did not complete.
    """
    half = (len(TOPICS) + 1) // 2  # Each worker gets half of the topics, however fast it is.
    with home.running(concurrency=half):
        batch, facts = asyncio.run(_research(home))
        if home.is_kept:
            home.report(_findings(batch, facts))
            home.keep_open()
    if home.as_json:
        _print_json(batch, time.monotonic() - began)
    else:
        home.report("" if home.is_kept else _findings(batch, facts))
        _print_end(batch, time.monotonic() - began)
    if batch.runs.get(RunState.COMPLETED, 0) != len(TOPICS):
        raise ChironError("Not every run of the demo completed; the lines above say why.")


async def _research(home: DemoHome) -> tuple[BatchSummary, list[DictRow]]:
    async with open_pool(settings().database_url, size=4) as pool:
        await home.fill_corpus(pool)
        receipt = await _submit(pool)
        await show_events(
            str(receipt.batch_id), history=True, as_json=home.as_json, hint="Ctrl+C ends the demo."
        )
        async with Session(pool) as session:
            facts = await best_of_runs(session, receipt.batch_id, limit=len(TOPICS))
        return await summary(pool, receipt.batch_id), facts


async def _submit(pool: Pool) -> Submitted:
    from chiron_workers.pubsub.signals import notify

    runs = [NewRun(topic, "research", SUBJECT, OFFLINE_MODEL, 50) for topic in TOPICS]
    receipt = await submit(pool, NewBatch(runs, SUBJECT, "Demo: the Python language"))
    await notify(settings().redis_url, receipt.batch_id)
    return receipt


def _print_json(batch: BatchSummary, elapsed_s: float) -> None:
    totals = {
        "batch_id": str(batch.id),
        "runs": sum(batch.runs.values()),
        "completed": batch.runs.get(RunState.COMPLETED, 0),
        "facts": batch.facts,
        "elapsed_s": round(elapsed_s, 1),
    }
    typer.echo(json.dumps(totals))


def _findings(batch: BatchSummary, facts: list[DictRow]) -> str:
    lines = ["", f"What was found in {one_line(batch.name)}, the best of each run:"]
    for fact in facts:
        lines += [
            "",
            f"  {fact['topic']}",
            f"    {one_line(fact['content'])}",
            f"    from {fact['source_url']}  (confidence {fact['confidence']:.2f})",
        ]
    return "\n".join(lines)


def _print_end(batch: BatchSummary, elapsed_s: float) -> None:
    typer.echo(
        f"\n{batch.runs.get(RunState.COMPLETED, 0)} of {sum(batch.runs.values())} runs completed, "
        f"{batch.facts} facts, {batch.turns} model replies, {elapsed_s:.0f} s in all.\n"
        f"{HONESTY}\n\n"
        f"{HINT_TO_KEEP}\n\n"
        "Where to look next:\n"
        "  chiron demo --learn                     from a learning goal to a map, a lesson and questions\n"
        "  chiron up                               start Chiron for good: Postgres, Valkey, workers, API, Flower\n"
        "  chiron open                             its page: batches, runs, facts with the words they rest on\n"
        "  chiron corpus add DOCS --subject NAME   make documents of your own the sources\n"
        "  chiron submit TOPIC --subject NAME --watch\n"
        "  export ANTHROPIC_API_KEY=...            let Claude do the research; CHIRON_MODEL=offline does without"
    )
