"""Topics from a file or from standard input: txt, csv, jsonl or yaml; each error names file and line."""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from chiron_api.cli.input.times import parse_time
from chiron_workers.errors import UsageError
from chiron_workers.states import Effort, ThinkingMode

FILE_BYTES_MAX = 64 * 1024 * 1024
BINARY = re.compile("[\0-\x08\x0e-\x1f]")  # characters that no text has
# From a text and its name to its topics, each with its line.
Reader = Callable[[str, str], Iterator[tuple[Any, int]]]


class Topic(BaseModel):
    """A topic with options of its own; what is None comes from the command line."""

    model_config = ConfigDict(extra="forbid")

    topic: str
    subject: str | None = None
    role: str | None = None
    model: str | None = None
    thinking: ThinkingMode | None = None
    effort: Effort | None = None
    priority: int | None = None
    max_turns: int | None = None
    budget_usd: Decimal | None = None
    budget_tokens: int | None = None
    ready_at: Annotated[datetime, BeforeValidator(parse_time)] | None = None


@dataclass(frozen=True, slots=True)
class TopicEntry:
    """A topic with its location: "topics.csv, line 3"."""

    topic: Topic
    location: str


def read_topics(file: str) -> list[TopicEntry]:
    """The topics of a file, at least one; "-" is standard input.

    Raises:
        UsageError: The file cannot be read or understood; the sentence names the file and the line.
    """
    name = "standard input" if file == "-" else file
    text = _decode(_read(file), name)
    topics = []
    for values, line in _reader(file, text)(text, name):
        location = f"{name}, line {line}"
        topics.append(TopicEntry(_topic(values, location), location))
    if not topics:
        raise UsageError(f"{name} holds no topic.")
    return topics


def _reader(file: str, text: str) -> Reader:
    if file == "-":
        return _parse_jsonl if text.lstrip().startswith("{") else _parse_text
    suffix = Path(file).suffix.lower()
    if suffix not in READERS:
        raise UsageError(f"{file}: topics come from .txt, .csv, .jsonl or .yaml files, not from {suffix}.")
    return READERS[suffix]


def _read(file: str) -> bytes:
    try:
        if file == "-":
            data = sys.stdin.buffer.read(FILE_BYTES_MAX + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from None
    if len(data) > FILE_BYTES_MAX:
        raise UsageError(f"{file} is larger than {FILE_BYTES_MAX // 1024**2} MB.")
    return data


def _decode(data: bytes, name: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{name}, line {line}: this is no UTF-8 text. Save the file as UTF-8.") from None
    if control := BINARY.search(text):
        line = text.count("\n", 0, control.start()) + 1
        raise UsageError(f"{name}, line {line}: this is a binary file, no text.")
    return text


def _parse_text(text: str, _name: str) -> Iterator[tuple[Any, int]]:
    for line, words in enumerate(text.splitlines(), start=1):
        if words.strip() and not words.lstrip().startswith("#"):
            yield words, line


def _parse_csv(text: str, name: str) -> Iterator[tuple[Any, int]]:
    rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        rows.fieldnames = columns = [column.strip().lower() for column in rows.fieldnames or []]
        if columns and "topic" not in columns:
            raise UsageError(
                f"{name}, line 1: the first line must name the columns, and one of them `topic`."
            )
        for row in rows:
            if None in row:
                raise UsageError(
                    f"{name}, line {rows.line_num}: there are more cells than columns; put quotes around commas."
                )
            yield _cells(row), rows.line_num
    except csv.Error as error:
        raise UsageError(f"{name}, line {rows.line_num + 1}: this is no CSV: {error}.") from None


def _cells(row: dict[str, str | None]) -> dict[str, str]:
    """The cells that hold something; an empty topic stays, so that it is reported as missing."""
    return {
        column: cell or "" for column, cell in row.items() if column == "topic" or (cell and cell.strip())
    }


def _parse_jsonl(text: str, name: str) -> Iterator[tuple[Any, int]]:
    for line, words in enumerate(text.split("\n"), start=1):
        if words.strip():
            try:
                yield json.loads(words), line
            except (ValueError, RecursionError) as error:
                reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
                raise UsageError(f"{name}, line {line}: this is no JSON: {reason}.") from None


def _parse_yaml(text: str, name: str) -> Iterator[tuple[Any, int]]:
    import yaml

    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            return
        if not isinstance(root, yaml.SequenceNode):
            raise UsageError(
                f"{name}, line 1: this must be a list of topics, each line of it beginning with `- `."
            )
        for node in root.value:
            yield loader.construct_object(node, deep=True), node.start_mark.line + 1
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"{name}, line {line}: this is no YAML: {error.problem}.") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{name}: this is no YAML: {' '.join(str(error).split())}.") from None
    except (RecursionError, ValueError):
        raise UsageError(f"{name}: this is no YAML list of topics.") from None
    finally:
        loader.dispose()


READERS: dict[str, Reader] = {
    "": _parse_text,
    ".txt": _parse_text,
    ".md": _parse_text,
    ".csv": _parse_csv,
    ".jsonl": _parse_jsonl,
    ".ndjson": _parse_jsonl,
    ".yaml": _parse_yaml,
    ".yml": _parse_yaml,
    ".json": _parse_yaml,  # YAML is a superset of it
}


def _topic(values: Any, location: str) -> Topic:
    if isinstance(values, str):
        values = {"topic": values}
    if not isinstance(values, dict):
        raise UsageError(f"{location}: a topic is text or a mapping with `topic` (got {values!r:.60}).")
    try:
        topic = Topic.model_validate({str(key): value for key, value in values.items()})
    except ValidationError as error:
        raise UsageError(f"{location}: {_sentence(error)}") from None
    return topic.model_copy(update={"topic": topic.topic.strip()})


def _sentence(error: ValidationError) -> str:
    # An unknown name is most likely a misspelt one, and explains more than a field that is missing.
    problem = min(error.errors(), key=lambda entry: entry["type"] != "extra_forbidden")
    field = ".".join(str(part) for part in problem["loc"])[:60]
    match problem["type"]:
        case "extra_forbidden":
            return f"{field!r} is not known; a topic can have {', '.join(Topic.model_fields)}."
        case "missing":
            return "The topic is missing."
        case "string_type":
            return f"{field} must be text (got {problem['input']!r:.60}); put it in quotes."
        case kind if kind.startswith("decimal") or kind == "finite_number":
            return f"{field} must be an amount, such as 2.50 (got {problem['input']!r:.60})."
        case "enum":
            return f"{field} must be {problem['ctx']['expected']} (got {problem['input']!r:.60})."
        case "value_error":
            return f"{field} {problem['ctx']['error']}"
    return f"{field} must be a whole number (got {problem['input']!r:.60})."
