"""Topics from a file or from standard input: txt, csv, json, jsonl or yaml; each error names file and line."""

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

from chiron_api.acts.moments import parse_time
from chiron_workers.batches.topics import text_topics
from chiron_workers.errors import UsageError
from chiron_workers.states import Effort, ThinkingMode

FILE_BYTES_MAX = 64 * 1024 * 1024
BINARY = re.compile("[\0-\x08\x0e-\x1f]")  # characters that no text has
# From a text and its name to its topics, each with its line.
Reader = Callable[[str, str], Iterator[tuple[Any, int]]]
SEPARATOR_LINE = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)  # Excel says there what parts the cells
DELIMITERS = (",", ";", "\t")
BETWEEN_ITEMS = re.compile(r"[ \t\n\r,]*")  # of a list in JSON


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
    context: str | None = None


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
    if not file:
        raise UsageError("--file names no file.")
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
        return _piped_reader(text)
    suffix = Path(file).suffix.lower()
    if suffix not in READERS:
        raise UsageError(
            f"{file}: topics come from .txt, .csv, .json, .jsonl or .yaml files, not from {suffix}."
        )
    return READERS[suffix]


def _piped_reader(text: str) -> Reader:
    if text.lstrip().startswith("{"):
        return _parse_jsonl
    return _parse_json if _is_json_list(text) else _parse_text


def _is_json_list(text: str) -> bool:
    if not text.lstrip().startswith("["):
        return False
    try:
        return isinstance(json.loads(text), list)
    except (ValueError, RecursionError):  # A topic such as "[Draft] What is a polynya?" begins so, too.
        return False


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
    yield from text_topics(text)


def _parse_csv(text: str, name: str) -> Iterator[tuple[Any, int]]:
    separator = SEPARATOR_LINE.match(text)
    text, lines_before = (text[separator.end() :], 1) if separator else (text, 0)
    delimiter = separator[1] if separator else _delimiter(text)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows.fieldnames = columns = [column.strip().lower() for column in rows.fieldnames or []]
        if columns and "topic" not in columns:
            raise UsageError(
                f"{name}, line {lines_before + 1}: the first line must name the columns, and one of them `topic`."
            )
        for row in rows:
            line = rows.line_num + lines_before
            cells: dict[Any, Any] = row
            if (more := cells.pop(None, None)) and columns == ["topic"]:
                cells["topic"] = delimiter.join([cells["topic"], *more])  # nothing else may stand in the line
            elif more:
                raise UsageError(
                    f"{name}, line {line}: there are more cells than columns; put quotes around a cell "
                    f"that has {delimiter!r} in it."
                )
            yield _cells(row), line
    except csv.Error as error:
        line = rows.line_num + lines_before + 1
        raise UsageError(f"{name}, line {line}: this is no CSV: {error}.") from None


def _delimiter(text: str) -> str:
    """What parts the cells: what gives the first line a column `topic`. A comma where that line is `topic` alone."""
    for delimiter in DELIMITERS:
        try:
            columns = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
        except csv.Error:  # The reading of the rows says what is wrong.
            continue
        if "topic" in (column.strip().lower() for column in columns):
            return delimiter
    return DELIMITERS[0]


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
                raise UsageError(
                    f"{name}, line {line}: this is no JSON: {_json_problem(error)[1]}."
                ) from None


def _parse_json(text: str, name: str) -> Iterator[tuple[Any, int]]:
    if not text.strip():
        return
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:
        line, reason = _json_problem(error)
        raise UsageError(f"{name}, line {line}: this is no JSON: {reason}.") from None
    if not isinstance(items, list):
        raise UsageError(
            f"{name}, line 1: this must be a list of topics, in square brackets. A file with an object a line is .jsonl."
        )
    decoder, place, line, line_start = json.JSONDecoder(), text.index("[") + 1, 1, 0
    for item in items:
        between = BETWEEN_ITEMS.match(text, place)
        start = between.end() if between else place
        line, line_start = line + text.count("\n", line_start, start), start
        yield item, line
        _, place = decoder.raw_decode(text, start)


def _json_problem(error: Exception) -> tuple[int, str]:
    if isinstance(error, json.JSONDecodeError):
        return error.lineno, error.msg
    return 1, "it is nested too deeply, or has a number of too many digits"


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
    ".tsv": _parse_csv,
    ".jsonl": _parse_jsonl,
    ".ndjson": _parse_jsonl,
    ".yaml": _parse_yaml,
    ".yml": _parse_yaml,
    ".json": _parse_json,
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
