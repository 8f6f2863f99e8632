"""The home of a demo: a temporary folder, with a stack of its own while the demo lasts."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from pydoc_data.topics import topics as python_reference

import typer

from chiron_api.local_stack.addresses import page_link
from chiron_api.local_stack.ports import free_port, web_address
from chiron_api.local_stack.stack import LocalStack
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.runs.session import Session
from chiron_workers.settings import OFFLINE_MODEL, Settings, read_settings, settings

SUBJECT = "The Python language"
HONESTY = (
    "The offline researcher is an extractive program and no language model: it copies sentences, and its facts stay unchecked, "
    "since no model has judged whether their quotes support them."
)


@dataclass(frozen=True)
class DemoHome:
    """What demos share: their options, what they say, and their stack."""

    as_json: bool
    is_kept: bool

    def report(self, line: str) -> None:
        """Print a line for people."""
        if not self.as_json:
            typer.echo(line)

    @contextmanager
    def running(self, *, concurrency: int, leaves_home: bool = False) -> Iterator[Path]:
        """The folder of a fresh home whose stack runs; settings of this process are its settings from here on.

        Args:
            concurrency: Runs that each of the two workers plays at once.
            leaves_home: Whether the folder stays once all went well.
        """
        folder = Path(tempfile.mkdtemp(prefix="chiron-demo-"))
        try:
            stack = LocalStack(_demo_settings(folder), workers=2, concurrency=concurrency)
            try:
                own_settings = stack.start(self.report)
                _use_services_of(own_settings)
                self.print_link("The page of it, while it runs")
                yield folder
            finally:
                try:
                    self.report("Stopping everything ...")
                finally:
                    stack.stop()  # also where the terminal is gone
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        if not leaves_home:
            shutil.rmtree(folder, ignore_errors=True)

    async def fill_corpus(self, pool: Pool) -> None:
        """Make the language reference that every CPython carries the corpus."""
        texts = [
            (name, text.strip().partition("\n")[0], text) for name, text in sorted(python_reference.items())
        ]
        async with Session(pool) as session:
            addition = await Corpus(session).add_texts(SUBJECT, texts)
        self.report(
            f"Corpus: {addition.added} chapters of the Python language reference, {addition.passages} passages."
        )

    def print_link(self, words: str) -> None:
        """Print a link to the page that signs in."""
        if not self.as_json:
            address = web_address(settings().api_host, settings().api_port)
            link = asyncio.run(page_link(settings(), address))
            typer.echo(f"{words}: {link}  (signs in once, within five minutes)")

    def keep_open(self) -> None:
        """Leave the page open until Ctrl+C, where that was asked for."""
        if not self.is_kept:
            return
        self.print_link("The page stays open")
        self.report(f"CHIRON_HOME={settings().home} chiron open   makes another link. Ctrl+C ends the demo.")
        with suppress(KeyboardInterrupt):
            while True:
                time.sleep(3_600)


def _demo_settings(home: Path) -> Settings:
    overrides = {"home": home, "database_url": "", "redis_url": "", "broker_url": "", "model": OFFLINE_MODEL}
    ports = {"api_port": free_port(), "flower_port": free_port()}
    return read_settings(**overrides, **ports, embedding_provider="minilm")


def _use_services_of(stack_settings: Settings) -> None:
    # Commands and settings of this process use the demo's services from here on, whatever the environment names.
    os.environ["CHIRON_HOME"] = str(stack_settings.home)
    for name in ("database_url", "redis_url", "broker_url", "model", "api_host", "api_port"):
        os.environ[f"CHIRON_{name.upper()}"] = str(getattr(stack_settings, name))
    settings.cache_clear()
