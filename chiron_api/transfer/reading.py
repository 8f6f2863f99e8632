from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from chiron_api.transfer.records import KIND, AnyRecord, Head
from chiron_workers.errors import UsageError

LINE_BYTES_MAX = 256 * 1024 * 1024  # a text of the longest kind, with each character as an escape sequence
RECORD: TypeAdapter[AnyRecord] = TypeAdapter(Annotated[AnyRecord, Field(discriminator="kind")])
MESSAGE_CHARS_MAX = 200


def read(path: Path) -> Iterator[tuple[int, AnyRecord]]:
    """The records of a file of exported knowledge in JSONL, each with the number of its line.

    Raises:
        UsageError: The file cannot be read, or a line is wrong: which, and why, in a sentence.
    """
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is no file. An import reads it several times; save it first.")
        with path.open("rb") as file:
            start = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
        if not start:
            raise UsageError(f"{path} is empty.")
        if not start.startswith(b"{"):
            raise UsageError(
                f"{path} is not a JSONL file of an export; CSV is for spreadsheets and is not imported."
            )
        yield from _records(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None


def _records(path: Path) -> Iterator[tuple[int, AnyRecord]]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LINE_BYTES_MAX + 1):
            number += 1
            if len(line) > LINE_BYTES_MAX:
                raise UsageError(f"Line {number}: it is longer than {LINE_BYTES_MAX:,} bytes.")
            if not line.strip():
                continue
            try:
                record = RECORD.validate_json(line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)
            except ValidationError as error:
                raise UsageError(f"Line {number}: {sentence(error)}") from None
            if (number == 1) != isinstance(record, Head):
                raise UsageError(
                    f"Line {number}: a file begins with a line of kind {KIND}, and has no other one."
                )
            yield number, record


def sentence(error: ValidationError) -> str:
    """What is wrong with a record, of several things the first."""
    details = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in details["loc"][1:])  # the first part is the kind
    message = details["msg"].removeprefix("Value error, ")[:MESSAGE_CHARS_MAX].rstrip(".")
    return f"{place}: {message}." if place else f"{message}."
