"""The second week of a user: a subject that knows much, batches that overlap, one that is retried and one that runs out of money.

Real workers and a scripted model, over real HTTP. Whatever command our output names is read by our parser, and those that it
advises are the ones that are run.
"""

import asyncio
import html
import io
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from docx import Document
from support import forked_python
from support.json_lines import json_lines
from support.printed_commands import commands_in
from support.pseudo_terminal import output_in_terminal
from support.scripted_model import scripted_model
from support.week_of_research import NAMES, NOWHERE, Researcher, answer, question, statement, write_documents
from support.worker_processes import chiron, environment, rows, running, wait_until

from chiron_workers.settings import Settings

SUBJECT, SUBJECT_ID = "Lakes of the North", "lakes-of-the-north"
MODEL = "claude-opus-5-5"
KINDS = ("depth", "river", "year")
Topic = tuple[str, str]


@dataclass
class Terminal:
    """Runs commands as a person does, and keeps the commands that their output names."""

    settings: Settings
    env: dict[str, str]
    outputs: list[str] = field(default_factory=list)

    def run(self, *arguments: str, exit_code: int = 0) -> "subprocess.CompletedProcess[str]":
        done = chiron(self.settings, *arguments, timeout_s=240, **self.env)
        assert done.returncode == exit_code, (arguments, done.stdout, done.stderr)
        self.outputs.append(f"{done.stdout}\n{done.stderr}")
        commands_in(self.outputs[-1])
        return done

    def watch(self, target: str, errors: Path) -> "forked_python.Popen":
        """Somebody who follows a batch, and says nothing; what the batch waits for goes to the file `errors`."""
        with errors.open("w") as file:
            return self._watch(target, file)

    def _watch(self, target: str, errors: IO[str]) -> "forked_python.Popen":
        return forked_python.Popen(
            [sys.executable, "-m", "chiron_api", "watch", target],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment(self.settings, **self.env),
        )

    def show(self, *arguments: str) -> str:
        """What a command prints on a terminal."""
        output = output_in_terminal(
            *arguments, environment=environment(self.settings, **self.env), columns=200
        )
        plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", output).replace("\r", "")
        commands_in(plain)
        return plain

    def advice(self, output: str, verb: str) -> list[str]:
        """The one command with this verb that an output names."""
        [command] = {tuple(words) for words in commands_in(output) if words[0] == verb}
        return list(command)


@dataclass(frozen=True)
class Week:
    """A batch as it was asked: the topics as they were typed, and what each means."""

    name: str
    topics: tuple[Topic, ...]
    variants: frozenset[int] = frozenset()  # places of those that are typed in another way

    def lines(self) -> list[str]:
        return [
            question(*topic).rstrip("?").lower() if n in self.variants else question(*topic)
            for n, topic in enumerate(self.topics)
        ]


def weeks(chance: random.Random) -> tuple[Week, Week, Week]:
    """Three batches of 20, half of each the questions of the one before; the last question has no answer anywhere."""
    topics = [(kind, name) for name in chance.sample(NAMES, 14) for kind in KINDS][:39]
    first = (*topics[:19], ("depth", NOWHERE))
    second = (*chance.sample(first[:19], 10), *topics[19:28], ("depth", NOWHERE))
    third = (*chance.sample(second[:19], 10), *topics[28:37], ("depth", NOWHERE))
    return (
        Week("Week 1", first),
        Week("Week 2: rivers & more", second, frozenset({0, 2, 4})),
        Week("Week 3", third),
    )


def submit(terminal: Terminal, week: Week, folder: Path, *options: str) -> str:
    file = folder / f"{week.name[:6]}.txt"
    file.write_text("".join(f"{line}\n" for line in week.lines()))
    done = terminal.run("submit", "-f", str(file), "-s", SUBJECT, "--name", week.name, *options)
    repeats = done.stderr.count("was answered before: ")
    assert (repeats >= 10) is (week.name != "Week 1"), done.stderr
    return done.stdout.strip()


async def settle(settings: Settings) -> None:
    """Wait until no run is open but for those that have paused."""
    query = "select 1 from runs where state in ('queued', 'running')"
    await asyncio.to_thread(wait_until, lambda: not rows(settings, query), 300, "all runs have settled")


def is_advised(errors: Path) -> bool:
    """Whether a watcher has said how a batch that has paused goes on."""
    return any(words[0] == "resume" for words in commands_in(errors.read_text()))


def states(settings: Settings, batch_id: str) -> list[str]:
    query = "select state from runs where batch_id = %s order by number"
    return [row["state"] for row in rows(settings, query, [batch_id])]


def plain_texts(terminal: Terminal, target: str, folder: Path) -> Iterator[tuple[str, str]]:
    """The report in each format that people read, as words alone."""
    markdown = terminal.run("report", target).stdout
    yield "md", re.sub(r"\\(.)", r"\1", markdown)
    page = re.sub(
        r"<style.*?</style>", "", terminal.run("report", target, "--format", "html").stdout, flags=re.S
    )
    yield "html", html.unescape(re.sub(r"<[^>]+>", " ", page))
    file = folder / f"{target}.docx"
    terminal.run("report", target, "--format", "docx", "-o", str(file))
    yield "docx", "\n".join(_texts_of(Document(io.BytesIO(file.read_bytes()))))


def _texts_of(document: Any) -> Iterator[str]:
    for paragraph in document.element.body.iter(
        "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}p"
    ):
        yield "".join(
            node.text or ""
            for node in paragraph.iter("{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t")
        )


def in_order(words: Sequence[str], text: str) -> list[str]:
    """Those of the words that do not follow the ones before them."""
    text, place, missing = " ".join(text.replace("*", "").split()), 0, []
    for part in words:
        found = text.find(" ".join(part.split()), place)
        if found < 0:
            missing.append(part)
        else:
            place = found + 1
    return missing


def check_answers(terminal: Terminal, batch_id: str, week: Week, folder: Path, *, known_count: int) -> None:
    """Each question has its answer and its facts, in the order in which they were asked, in each format."""
    lines = week.lines()
    report = json.loads(terminal.run("report", batch_id, "--format", "json").stdout)
    sections = [section for section in report["sections"] if section["question"]]
    assert [section["question"]["topic"] for section in sections] == lines
    numbers = {
        finding["number"]: finding["content"]
        for section in report["sections"]
        for finding in section["findings"]
    }
    known_before = 0
    for topic, section in zip(week.topics, sections, strict=True):
        contents = [finding["content"] for finding in section["findings"]]
        contents += [numbers[number] for number in section["question"]["repeats"]]
        known_before += bool(section["question"]["known_findings"])
        if topic[1] == NOWHERE:
            assert (contents, section["question"]["nothing_found"]) == ([], True)
            assert section["question"]["attempts"]["searches"], "what was tried"
            assert section["question"]["attempts"]["pages"]
        else:
            assert statement(*topic) in contents, (topic, contents)
    assert known_before >= known_count, "of the questions that were asked the week before"
    assert [part["topic"] for part in report["run_answers"]] == lines
    results = json_lines(terminal.run("results", batch_id, "--json").stdout)
    assert [result["topic"] for result in results] == lines
    for topic, result in zip(week.topics, results, strict=True):
        assert answer(*topic) in result["answer"]
        assert (result["facts"] + result["confirmed"] + result["cited"] > 0) is (topic[1] != NOWHERE)
    words = [part for line, topic in zip(lines, week.topics, strict=True) for part in (line, answer(*topic))]
    for form, text in plain_texts(terminal, batch_id, folder):
        assert in_order(words, text) == [], form
        assert text.count("(not cited)") <= 1, form  # the sentence that found nothing
        assert "Nothing found." in text, form


async def test_the_second_week_of_a_user_ends_with_an_answer_to_each_question(
    settings: Settings, chance: random.Random, tmp_path: Path
) -> None:
    write_documents(tmp_path / "papers")
    first, second, third = weeks(chance)
    researcher = Researcher(SUBJECT_ID)
    async with scripted_model(researcher) as server:
        env = {"ANTHROPIC_API_KEY": "test", "ANTHROPIC_BASE_URL": server.url, "CHIRON_MODEL": MODEL}
        terminal = Terminal(settings, env)

        def play() -> None:
            added = terminal.run("corpus", "add", str(tmp_path / "papers"), "-s", SUBJECT)
            assert "200 documents read: 200 new" in added.stdout

        await asyncio.to_thread(play)
        with running(settings, "-c", "20", name="w1", **env):
            first_id = await asyncio.to_thread(submit, terminal, first, tmp_path)
            await settle(settings)
            assert states(settings, first_id) == ["completed"] * 20

            researcher.refusals = {second.topics[n] for n in (1, 3, 11, 14)}
            second_id = await asyncio.to_thread(submit, terminal, second, tmp_path)
            await settle(settings)
            assert states(settings, second_id).count("failed") == 4
            researcher.refusals = set()
            shown = (await asyncio.to_thread(terminal.run, "show", "last")).stdout
            await asyncio.to_thread(terminal.run, *terminal.advice(shown, "retry"))
            await settle(settings)
            assert states(settings, second_id) == ["completed"] * 20

            third_id = await asyncio.to_thread(submit, terminal, third, tmp_path, "--budget-usd", "1.20")
            errors = tmp_path / "watch.err"
            watching = terminal.watch(third_id, errors)
            await settle(settings)
            assert {*states(settings, third_id)} == {"completed", "paused"}
            shown = (await asyncio.to_thread(terminal.run, "show", third.name)).stdout
            assert await asyncio.to_thread(terminal.show, "list")
            # Who resumes it before the watcher has looked at the pause is told of none.
            await asyncio.to_thread(
                wait_until, lambda: is_advised(errors), 120, "the watcher says how to go on"
            )
            await asyncio.to_thread(terminal.run, *terminal.advice(shown, "resume"))
            await settle(settings)
            assert states(settings, third_id) == ["completed"] * 20, "one raise was enough"
            out, _ = await asyncio.to_thread(watching.communicate, timeout=120)
            assert (watching.returncode, "Completed: 20 completed" in out) == (0, True)
            assert terminal.advice(errors.read_text(), "resume")[1] == third_id
    for batch_id, week, count in ((first_id, first, 0), (second_id, second, 10), (third_id, third, 10)):
        await asyncio.to_thread(check_answers, terminal, batch_id, week, tmp_path, known_count=count)
