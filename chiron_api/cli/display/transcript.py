"""The conversation of a run as text: who said what and when, each call with its result below it."""

import json
from collections.abc import Iterator
from typing import Any

from chiron_api.text import local_time, one_line, printable, usd
from chiron_workers.runs.transcript import TranscriptEntry

ARGUMENTS_CHARS = 500
RESULT_CHARS = 1_000
TITLES = {"question": "Question", "folding": "Request for a summary"}


def transcript_lines(entry: TranscriptEntry) -> Iterator[str]:
    """The lines that `chiron show RUN --transcript` prints for an entry."""
    yield f"[{entry.n}] {local_time(entry.at)}  {_title(entry)}"
    match entry.kind:
        case "opening":
            yield from _indented(entry.body.get("question") or "")
        case "reply":
            for block in entry.body["content"]:
                yield from _block_lines(block, entry.results)
            if entry.body.get("usage_unknown"):
                yield "  The server does not say what it took: all that was reserved for it counts."
            if reported := entry.body.get("reported"):
                cost = "" if reported["usd"] is None else f"{usd(reported['usd'])} for "
                yield f"  The server reports {cost}{reported['tokens']:,} tokens; it was charged what was reserved."
            if problem := entry.body.get("problem"):
                yield f"  This reply cannot be used: {one_line(problem)}"
        case _:
            yield from _indented(entry.body["text"])
    yield ""


def _title(entry: TranscriptEntry) -> str:
    match entry.kind:
        case "opening":
            tools = entry.body["tools"]
            return f"Epoch {entry.epoch} begins, with {one_line(entry.body['model'])} and {len(tools)} tools"
        case "reply":
            cost = "cost unknown" if entry.cost_usd is None else usd(entry.cost_usd)
            return f"Reply ({one_line(entry.body['stop_reason'] or 'no stop reason')}, {cost})"
    return TITLES.get(entry.kind, entry.kind)


def _block_lines(block: dict[str, Any], results: list[dict[str, Any]]) -> Iterator[str]:
    match block["type"]:
        case "text":
            yield from _indented(block["text"])
        case "thinking":
            yield from (f"  (thinking) {line}" for line in printable(block.get("thinking", "")).splitlines())
        case "tool_use":
            yield f"  -> {one_line(block['name'])} {_shortened(json.dumps(block['input'], ensure_ascii=False), ARGUMENTS_CHARS)}"
            for result in results:
                if result["call_id"] == block["id"]:
                    yield f"  <- {'error: ' if result['is_error'] else ''}{_shortened(result['body'], RESULT_CHARS)}"
        case kind:  # what the server of the model did by itself, such as a search
            yield f"  ({one_line(kind)}) {_shortened(json.dumps(block, ensure_ascii=False), ARGUMENTS_CHARS)}"


def _shortened(text: str, chars_max: int) -> str:
    line = one_line(text, chars_max=chars_max)
    return f"{line} ({len(text):,} characters)" if len(text) > chars_max else line


def _indented(text: str) -> Iterator[str]:
    yield from (f"  {line}".rstrip() for line in printable(text).splitlines())
