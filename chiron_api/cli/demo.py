import asyncio
import json
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from psycopg.rows import DictRow

from chiron_api.cli import raise_on_sigterm
from chiron_api.cli.watch import show_events
from chiron_api.local_stack.addresses import page_link
from chiron_api.local_stack.ports import free_port, web_address
from chiron_api.local_stack.stack import LocalStack
from chiron_api.text import one_line
from chiron_workers.batches.submit import NewBatch, NewRun, Submitted, submit
from chiron_workers.batches.summaries import BatchSummary, summary
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import ChironError
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.knowledge.facts.facts import best_of_runs
from chiron_workers.runs.session import Session
from chiron_workers.settings import OFFLINE_MODEL, Settings, read_settings, settings
from chiron_workers.states import RunState

cli = typer.Typer()

SUBJECT = "The Python language"
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


@cli.command()
def demo(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print events as JSON lines and the summary as the last one.")
    ] = False,
    is_kept: Annotated[
        bool, typer.Option("--keep", help="Leave the page open at the end, until Ctrl+C.")
    ] = False,
) -> None:
    """Research a real batch from start to end in a minute, with everything embedded and no key.

    Starts Postgres, Valkey, two workers, the API and Flower in a fresh temporary home, makes the Python language
    reference that every CPython carries the corpus, lets the offline researcher work on eight topics, shows what
    happens here and on a page, and stops and removes everything. Exit code 0 only if every run completed.
    """
    raise_on_sigterm()
    began = time.monotonic()

    def report(line: str) -> None:
        if not as_json:
            typer.echo(line)

    with tempfile.TemporaryDirectory(prefix="chiron-demo-", ignore_cleanup_errors=True) as home:
        half = (len(TOPICS) + 1) // 2  # Each worker gets half of the topics, however fast it is.
        stack = LocalStack(_demo_settings(Path(home)), workers=2, concurrency=half)
        try:
            own_settings = stack.start(report)
            _use_services_of(own_settings)
            address = web_address(own_settings.api_host, own_settings.api_port)
            if not as_json:
                _print_link("The page of it, while it runs", address)
            batch, facts = asyncio.run(_research(as_json=as_json))
            if is_kept:
                report(_findings(batch, facts))
                _print_link("The page stays open", address)
                _wait_for_interrupt(report)
        finally:
            try:
                report("Stopping everything ...")
            finally:
                stack.stop()  # also where the terminal is gone
    if as_json:
        _print_json(batch, time.monotonic() - began)
    else:
        report("" if is_kept else _findings(batch, facts))
        _print_end(batch, time.monotonic() - began)
    if batch.runs.get(RunState.COMPLETED, 0) != len(TOPICS):
        raise ChironError("Not every run of the demo completed; the lines above say why.")


def _demo_settings(home: Path) -> Settings:
    overrides = {"home": home, "database_url": "", "redis_url": "", "broker_url": "", "model": OFFLINE_MODEL}
    ports = {"api_port": free_port(), "flower_port": free_port()}
    return read_settings(**overrides, **ports, embedding_provider="minilm")


def _use_services_of(stack_settings: Settings) -> None:
    # Commands and settings of this process use the demo's services from here on, whatever the environment names.
    os.environ["CHIRON_HOME"] = str(stack_settings.home)
    for name in ("database_url", "redis_url", "broker_url", "model"):
        os.environ[f"CHIRON_{name.upper()}"] = getattr(stack_settings, name)
    settings.cache_clear()


async def _research(*, as_json: bool) -> tuple[BatchSummary, list[DictRow]]:
    async with open_pool(settings().database_url, size=4) as pool:
        async with Session(pool) as session:
            addition = await Corpus(session).add_texts(SUBJECT, _documents())
        if not as_json:
            typer.echo(
                f"Corpus: {addition.added} chapters of the Python language reference, {addition.passages} passages."
            )
        receipt = await _submit(pool)
        await show_events(str(receipt.batch_id), as_json=as_json, hint="Ctrl+C ends the demo.")
        async with Session(pool) as session:
            facts = await best_of_runs(session, receipt.batch_id, limit=len(TOPICS))
        return await summary(pool, receipt.batch_id), facts


def _documents() -> list[tuple[str, str, str]]:
    from pydoc_data.topics import topics as python_reference

    return [(name, text.strip().partition("\n")[0], text) for name, text in sorted(python_reference.items())]


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


def _print_link(words: str, address: str) -> None:
    link = asyncio.run(page_link(settings(), address))
    typer.echo(f"{words}: {link}  (signs in once, within five minutes)")


def _wait_for_interrupt(report: Callable[[str], None]) -> None:
    report(f"CHIRON_HOME={settings().home} chiron open   makes another link. Ctrl+C ends the demo.")
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(3_600)


def _print_end(batch: BatchSummary, elapsed_s: float) -> None:
    typer.echo(
        f"\n{batch.runs.get(RunState.COMPLETED, 0)} of {sum(batch.runs.values())} runs completed, "
        f"{batch.facts} facts, {batch.turns} model replies, {elapsed_s:.0f} s in all.\n"
        "The offline researcher is an extractive program and no language model: it copies sentences.\n\n"
        "Where to look next:\n"
        "  chiron up                               start Chiron for good: Postgres, Valkey, workers, API, Flower\n"
        "  chiron open                             its page: batches, runs, facts with the words they rest on\n"
        "  chiron corpus add DOCS --subject NAME   make documents of your own the sources\n"
        "  chiron submit TOPIC --subject NAME --watch\n"
        "  export ANTHROPIC_API_KEY=...            let Claude do the research; CHIRON_MODEL=offline does without"
    )
