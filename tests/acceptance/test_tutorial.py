"""The tutorial, command by command, in a fresh home: what it says is printed is printed."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.pseudo_terminal import output_in_terminal

from chiron_api.local_stack.ports import free_port

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
ELISION = "..."
ERROR = "chiron: "
IN_A_TERMINAL = "chiron list"
# What differs from one time to the next, and what stands for it.
VARIABLE_PARTS = (
    (r"\x1b\[[0-9;?]*[a-zA-Z]", ""),
    (r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{8}-[0-9a-f]{1,4}\b", "ID"),
    (r"\d{4}-\d\d-\d\d|\d+ [A-Z][a-z]+ \d{4}", "DATE"),
    (r"\d\d:\d\d(?::\d\d)? UTC", "TIME"),
    (r"pid \d+ *", "pid "),
    (r"\b\d+@\S+", "NODE"),
    (r"started on \S+", "started on NODE"),
    (r"127\.0\.0\.1:\d+", "ADDRESS"),
    (r"in \d+ ms", "in MS"),
    (r"code=\S+", "code=CODE"),
    (r"; (?:\d+m )?\d+s\.$", "; DURATION."),
    (r"[\d,]+ fresh|[\d,]+ out", "TOKENS"),
    (r"^\*\*\d+\.\*\*|^  \d+  |#\d ", "N "),  # facts of one reply, and runs, come in any order
    (r" +", " "),
)


def steady(line: str, home: Path) -> str:
    """A line without what differs from one time to the next."""
    line = line.replace(str(home), "~/.local/share/chiron")
    for pattern, text in VARIABLE_PARTS:
        line = re.sub(pattern, text, line)
    return line.strip()


def blocks() -> list[str]:
    """The text of each block of the page that is set off."""
    return re.findall(r"^```\w*\n(.*?)^```$", TUTORIAL.read_text(), re.M | re.S)


def calls(block: str) -> Iterator[tuple[str, list[str]]]:
    """The commands of a block, each with the lines that it is said to print."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, *lines = part.splitlines()
        yield command, lines


class Reader:
    """Follows the tutorial in a shell of its own."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home
        own = {
            name: text for name, text in os.environ.items() if not name.startswith(("CHIRON_", "ANTHROPIC_"))
        }
        self.environment = own | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{own['PATH']}",
            "CHIRON_HOME": str(home),
            "CHIRON_MODEL": "offline",
            "CHIRON_API_PORT": str(free_port()),
            "CHIRON_FLOWER_PORT": str(free_port()),
        }

    def run(self, command: str, *, exit_code: int = 0) -> str:
        """What a command prints, in a pipe unless the page shows a terminal; the error of one that fails."""
        if command == IN_A_TERMINAL:
            return output_in_terminal("list", environment=self.environment)
        process = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        assert process.returncode == exit_code, (command, process.stdout, process.stderr)
        return process.stderr if exit_code else process.stdout

    def id_of_the_first_fact(self) -> str:
        found = self.run('chiron search "open water in winter" --subject "Sea ice" --json')
        return re.findall(r'"id": "(\S+?)"', found)[0]


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    home = Path(tempfile.mkdtemp(prefix="ch"))  # short: sockets lie in it
    reader = Reader(tmp_path, home / "home")
    try:
        yield reader
    finally:
        reader.run("chiron down")
        shutil.rmtree(home)


def missing(lines: list[str], output: list[str]) -> list[str]:
    """The lines of the page that no line of the output equals or, where the page cuts them, begins like."""
    return [
        line
        for line in lines
        if line
        and not any(
            real.startswith(line.removesuffix(ELISION).rstrip()) if line.endswith(ELISION) else real == line
            for real in output
        )
    ]


@pytest.mark.timeout(900)
def test_what_the_tutorial_says_is_printed_is_printed(reader: Reader) -> None:
    count = 0
    for block in blocks():
        if block.startswith("mkdir"):  # the documents
            reader.run(block)
        if block.startswith("chiron "):  # commands whose output the page does not show
            for line in block.splitlines():
                assert reader.run(line), line
                count += 1
        for command, lines in calls(block):
            if re.match(r"chiron show [0-9a-f]{8}-", command):
                command = f"chiron show {reader.id_of_the_first_fact()}"  # noqa: PLW2901  # the page names one of its own
            text = reader.run(command, exit_code=int(lines[:1] != [] and lines[0].startswith(ERROR)))
            output = [steady(line, reader.home) for line in text.splitlines()]
            assert missing([steady(line, reader.home) for line in lines], output) == [], (command, output)
            count += 1
    assert count == 19
