"""A file in pg_dump's custom format, read as data alone: what it lists, and the rows of its tables. Nothing in it is executed."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from chiron_api.backup.postgres_clients import first_error, newest_program_path
from chiron_workers.errors import ChironError, UsageError

MAGIC = b"PGDMP"  # begins each file in pg_dump's custom format
LIST_BYTES_MAX = 4 << 20  # about 50,000 entries: six centuries of months
PIECE_BYTES = 1 << 20
END = b"\\.\n"
IDENTIFIER = r'(?:\w+|"(?:[^"]|"")+")'
COPY = re.compile(rf"COPY (\w+)\.(\w+) \(({IDENTIFIER}(?:, {IDENTIFIER})*)\) FROM stdin;")
# What pg_restore itself writes around the rows of a table.
FRAME = re.compile(
    r"|--.*|SET \w+ = [\w']+;|SELECT pg_catalog\.set_config\('search_path', '', false\);|\\(un)?restrict \w+"
)
ENCODING = re.compile(r"SET client_encoding = '(\w+)';")
# The kinds of entries that backups of ours have had, and how many words name one: `runs runs_pkey` is a constraint.
WORDS_BY_KIND = {
    **dict.fromkeys(("TABLE", "TABLE DATA", "TABLE ATTACH", "SEQUENCE", "SEQUENCE SET", "VIEW"), 1),
    **dict.fromkeys(("INDEX", "INDEX ATTACH", "FUNCTION", "EXTENSION", "SCHEMA"), 1),
    **dict.fromkeys(("CONSTRAINT", "CHECK CONSTRAINT", "FK CONSTRAINT", "TRIGGER", "COMMENT"), 2),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the table of contents. `tag` is its name, with the owner behind it as some names hold spaces."""

    number: int
    kind: str
    schema: str  # or -
    tag: str

    @property
    def name(self) -> str:
        """The words that name it, without the owner. Those of a function end with its arguments."""
        if self.kind == "FUNCTION":
            return self.tag.rpartition(")")[0] + ")"
        words = self.tag.split(" ")
        return " ".join(words[: WORDS_BY_KIND.get(self.kind)])

    def __str__(self) -> str:
        """What it is, for people."""
        schema = "" if self.schema == "-" else f"{self.schema}."
        return f"{self.kind.lower()} {schema}{self.tag.rpartition(' ')[0] or self.tag}"


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one table, in the text format of COPY."""

    table: str
    columns: list[str]
    encoding: str
    pieces: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class Archive:
    """A file and its table of contents."""

    path: Path
    entries: list[Entry]

    @classmethod
    def open(cls, path: Path) -> Self:
        """Read the table of contents.

        Raises:
            UsageError: The file is not in pg_dump's format, or cannot be read.
            ChironError: It is damaged, or lists more than any backup of ours could.
        """
        try:
            if not path.is_file():
                path.stat()  # A missing file is told from what is no file.
                raise UsageError(f"{path} is no file that could be read.")
            with path.open("rb") as file:
                magic = file.read(len(MAGIC))
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
        if magic != MAGIC:
            raise UsageError(f"{path} is no backup made by `chiron backup`.")
        return cls(path, [_entry(line) for line in _listing(path) if line and not line.startswith(";")])

    @property
    def tables(self) -> dict[str, Entry]:
        """The tables whose rows are in the file. Raises ChironError where one is listed twice."""
        data = [entry for entry in self.entries if entry.kind == "TABLE DATA"]
        by_name = {f"{entry.schema}.{entry.name}": entry for entry in data}
        if len(by_name) < len(data):
            raise ChironError(f"Nothing was restored: {self.path} lists the rows of a table twice.")
        return by_name

    @contextmanager
    def rows(self, entry: Entry) -> Iterator[Rows]:
        """The rows of a table, which must be read to their end.

        Raises:
            ChironError: The file is damaged there, or holds anything else than these rows.
        """
        with tempfile.NamedTemporaryFile("w") as selection, tempfile.TemporaryFile() as messages:
            selection.write(f"{entry.number};\n")
            selection.flush()
            options = ["--data-only", "--no-owner", "--no-privileges", f"--use-list={selection.name}"]
            process = _start(self.path, *options, "--file=-", messages=messages)
            assert process.stdout is not None
            try:
                section = _Section(self.path, process.stdout)
                yield section.rows(entry)
                section.finish()
                if process.wait() != 0:
                    raise section.damage()
            except _TornError:
                process.wait()
                messages.seek(0)
                raise section.damage(first_error(messages.read().decode(errors="replace"))) from None
            finally:
                process.kill()
                process.communicate()

    def count(self, entry: Entry) -> int:
        """How many rows of a table the file holds. Raises as `rows`."""
        with self.rows(entry) as rows:
            return sum(piece.count(b"\n") for piece in rows.pieces)


class _TornError(Exception):
    """The output of pg_restore ends in the midst of a table."""


class _Section:
    """What pg_restore writes for one table: its settings, one COPY statement, the rows, and nothing else."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self._path = path
        self._stream = stream
        self._is_read = False

    def rows(self, entry: Entry) -> Rows:
        encoding = "UTF8"
        while not (statement := COPY.fullmatch(line := self._line())):
            self._refuse_statement(line)
            if setting := ENCODING.fullmatch(line):
                encoding = setting[1]
        schema, table, columns = statement.groups()
        if (schema, table) != (entry.schema, entry.name):
            raise ChironError(
                f"Nothing was restored: {self._path} holds rows of {schema}.{table} in the place of {entry.schema}."
                f"{entry.name}; it is damaged."
            )
        return Rows(table, _names(columns), encoding, self._pieces())

    def finish(self) -> None:
        """Read what follows the rows. Raises ChironError unless they were read, and nothing but comments follows."""
        if not self._is_read:
            raise self.damage()
        while piece := self._stream.readline(PIECE_BYTES):
            self._refuse_statement(_text(piece))

    def damage(self, reason: str = "it ends in the midst of a table.") -> ChironError:
        return ChironError(f"Nothing was restored: {self._path} is damaged: {reason}")

    def _line(self) -> str:
        if not (piece := self._stream.readline(PIECE_BYTES)):
            raise _TornError
        return _text(piece)

    def _pieces(self) -> Iterator[bytes]:
        is_start_of_line = True
        while piece := self._stream.readline(PIECE_BYTES):
            if is_start_of_line and piece == END:
                self._is_read = True
                return
            is_start_of_line = piece.endswith(b"\n")
            yield piece
        raise _TornError

    def _refuse_statement(self, line: str) -> None:
        if not FRAME.fullmatch(line):
            words = "".join(letter if letter.isprintable() else "?" for letter in line[:80])
            raise ChironError(
                f"Nothing was restored: {self._path} holds `{words}`, which no backup of Chiron's holds."
            )


def _listing(path: Path) -> list[str]:
    with tempfile.TemporaryFile() as messages:
        process = _start(path, "--list", messages=messages)
        assert process.stdout is not None
        try:
            listing = process.stdout.read(LIST_BYTES_MAX + 1)
            if len(listing) > LIST_BYTES_MAX:
                raise ChironError(
                    f"Nothing was restored: {path} lists more than any backup of Chiron's holds."
                )
            if process.wait() != 0:
                messages.seek(0)
                raise ChironError(
                    f"{path} cannot be read: {first_error(messages.read().decode(errors='replace'))}"
                )
        finally:
            process.kill()
            process.communicate()
    return listing.decode(errors="replace").split("\n")


def _start(path: Path, *options: str, messages: IO[bytes]) -> "subprocess.Popen[bytes]":
    command = [newest_program_path("pg_restore"), "--format=custom", *options, str(path)]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=messages)


def _entry(line: str) -> Entry:
    parts = re.fullmatch(r"(\d+); \d+ \d+ ([A-Z]+(?: [A-Z]+)*) (\S+) (.*)", line)
    if parts is None:
        return Entry(0, "ENTRY", "-", line)
    return Entry(int(parts[1]), parts[2], parts[3], parts[4])


def _names(columns: str) -> list[str]:
    return [
        name[1:-1].replace('""', '"') if name.startswith('"') else name
        for name in re.findall(IDENTIFIER, columns)
    ]


def _text(piece: bytes) -> str:
    return piece.decode(errors="replace").rstrip("\n")
