"""What a server sends, read leniently: mended where its meaning is plain, and else an error that ends the call at once."""

import json
import math
import re
from collections.abc import Collection, Iterator
from typing import Any

from mcp_types import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)

UNUSABLE = -32_093  # a code of our own: the answer of a server has no meaning
DEPTH_MAX = 200  # of values, as the library has it
MESSAGE_CHARS = 2_000
VALUES_MAX = 100_000  # that are read leniently, in some dozens of milliseconds of the event loop
VALUE_START = re.compile(r"[^ \t\r\n]")
SURROGATE = re.compile("[\ud800-\udfff]")
OBJECT_START = re.compile(rb'[\xef\xbb\xbf \t\r]*(?:\[\s*)*\{\s*"')  # words in brackets begin a log line
ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,100}")')
KINDS = {str: "a text", bool: "a truth value", int: "a number", float: "a number", list: "a list"}


def read_messages(content: bytes, open_ids: Collection[RequestId]) -> list[JSONRPCMessage]:
    """The messages that a line holds; none where it is a log line, as many servers print to stdout.

    An answer to an open request is never left out: one that cannot be used is an error with the code UNUSABLE.
    """
    message = _strict_message(content)
    if message is not None:
        if isinstance(message, JSONRPCError) and message.id is None and len(open_ids) == 1:
            [message.id] = open_ids  # a server that could not read the request does not know its id
        return [message]
    values = _values(content)
    if not values and (request_id := _id_of_broken(content, open_ids)) is not None:
        return [unusable(request_id, "its answer is no JSON that can be read")]
    return list(_messages(values, open_ids))


def mend_body(content: bytes, id: RequestId) -> bytes:
    """The body that answers a request, as it is or mended; an error where it answers nothing."""
    messages = read_messages(content, [id])
    answers = [message for message in messages if isinstance(message, JSONRPCResponse | JSONRPCError)]
    answer = next((message for message in answers if str(message.id) == str(id)), None)
    return _written(answer or unusable(id, "its answer is no message of the protocol"))


def mend_event_line(line: bytes, open_ids: Collection[RequestId]) -> bytes:
    """A line of an event stream, as it is or with the message that it holds mended."""
    if not line.startswith(b"data:"):
        return line
    content = line.removeprefix(b"data:").strip()
    line_end = line[len(line.rstrip(b"\r\n")) :]
    if _strict_message(content) is not None:
        return line
    # A line that is not JSON may be a part of a message of several lines.
    messages = list(_messages(_values(content), open_ids))
    return b"data: " + _written(messages[0]) + line_end if len(messages) == 1 else line


def _strict_message(content: bytes) -> JSONRPCMessage | None:
    """The message that a line is by the letter of the protocol."""
    try:
        message = jsonrpc_message_adapter.validate_json(content, by_name=False)
    except ValueError:
        return None
    # Some servers send an empty error beside each result; `_answer` decides which of the two counts.
    return None if isinstance(message, JSONRPCError) and b'"result"' in content else message


def _written(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode()


def unusable(id: RequestId, reason: str) -> JSONRPCError:
    """The error that ends a call whose answer cannot be used; the reason is a clause."""
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=UNUSABLE, message=reason))


def _values(content: bytes) -> list[Any]:
    """The JSON values of a line, one behind the other, up to what is none.

    Bytes that are no UTF-8 and halves of characters become U+FFFD.
    """
    values: list[Any] = []
    if sum(map(content.count, (b",", b"[", b"{"))) > VALUES_MAX:
        return values
    text, place = content.decode("utf-8-sig", "replace"), 0
    decoder = json.JSONDecoder(strict=False, parse_int=_number, parse_constant=lambda _: None)
    try:
        while len(values) < VALUES_MAX and (start := VALUE_START.search(text, place)):
            value, place = decoder.raw_decode(text, start.start())
            values.append(_clean(value, DEPTH_MAX))
    except (ValueError, RecursionError):
        pass
    return values


def _number(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:  # of more digits than Python reads
        return digits


def _clean(value: Any, depth: int) -> Any:
    """A value without halves of characters. Raises ValueError where it is too deep."""
    if depth < 0:
        raise ValueError("too deep")
    match value:
        case str():
            return SURROGATE.sub("\ufffd", value)
        case list():
            return [_clean(entry, depth - 1) for entry in value]
        case dict():
            return {SURROGATE.sub("\ufffd", key): _clean(entry, depth - 1) for key, entry in value.items()}
        case float() if not math.isfinite(value):
            return None
    return value


def _messages(values: list[Any], open_ids: Collection[RequestId]) -> Iterator[JSONRPCMessage]:
    # Versions of the protocol before 2025-06-18 had several messages in one list.
    entries = [entry for value in values for entry in (value if isinstance(value, list) else [value])]
    for entry in entries:
        if not isinstance(entry, dict) or not _is_message(entry):
            continue
        if "method" in entry:
            try:
                yield jsonrpc_message_adapter.validate_python({**entry, "jsonrpc": "2.0"}, by_name=False)
            except ValueError:
                continue
        elif (request_id := _open_id(entry, open_ids)) is not None:
            yield _answer(entry, request_id)


def _is_message(entry: dict[str, Any]) -> bool:
    """Whether an object is meant for a client; without a version it may be a line of a JSON log, with any keys."""
    if "jsonrpc" in entry:
        return True
    if "method" in entry:
        return set(entry) <= {"id", "method", "params"}
    has_object = isinstance(entry.get("result"), dict) or isinstance(entry.get("error"), dict)
    return has_object and entry.get("id") is not None and set(entry) <= {"id", "result", "error"}


def _open_id(entry: dict[str, Any], open_ids: Collection[RequestId]) -> RequestId | None:
    """The open request that an answer is for; without an id the only one there is."""
    answer_id = entry.get("id")
    if answer_id is None and ("result" in entry or "error" in entry) and len(open_ids) == 1:
        return next(iter(open_ids))
    text = str(int(answer_id)) if isinstance(answer_id, float) else str(answer_id)
    return next((open_id for open_id in open_ids if str(open_id) == text), None)


def _answer(entry: dict[str, Any], id: RequestId) -> JSONRPCMessage:
    error, result = entry.get("error"), entry.get("result")
    is_empty = not (any(error.values()) if isinstance(error, dict) else error)
    if isinstance(result, dict) and is_empty:
        return JSONRPCResponse(jsonrpc="2.0", id=id, result=result)
    if not is_empty:
        details = error if isinstance(error, dict) else {"message": error}
        code = details.get("code")
        message = details.get("message") or details
        words = message if isinstance(message, str) else json.dumps(message)
        data = ErrorData(
            code=code if type(code) is int else INTERNAL_ERROR,
            message=words[:MESSAGE_CHARS],
            data=details.get("data"),
        )
        return JSONRPCError(jsonrpc="2.0", id=id, error=data)
    if result is None:
        return unusable(id, "its answer has neither a result nor an error")
    return unusable(id, f"its result is {KINDS[type(result)]} instead of an object")


def _id_of_broken(content: bytes, open_ids: Collection[RequestId]) -> RequestId | None:
    """The id of the request that a line answers, if it can be read from a line that is not JSON."""
    if not OBJECT_START.match(content) or b'"jsonrpc"' not in content:
        return None
    texts = {match.decode().strip('"') for match in ID.findall(content)}
    ids = [open_id for open_id in open_ids if str(open_id) in texts]
    if not texts and len(open_ids) == 1:
        ids = list(open_ids)
    return ids[0] if len(ids) == 1 else None
