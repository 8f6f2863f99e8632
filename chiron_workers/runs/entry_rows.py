"""Entries and results as rows, and back."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from psycopg.rows import DictRow

from chiron_workers.runs.entries import (
    Compaction,
    Entry,
    MaxCost,
    Opening,
    Question,
    Reply,
    ReportedCost,
    Results,
    ServiceAnswer,
    ToolCall,
    ToolResult,
    Usage,
    storable,
)
from chiron_workers.runs.fence import json_text

KINDS = {Opening: "opening", Question: "question", Compaction: "folding", Reply: "reply"}

OPENING_OPTIONS = ("question", "draft", "thinking", "effort", "turns_without_progress")


def reply_columns(reply: Reply) -> dict[str, Any]:
    """What a reply used and cost, as the columns of its row, and what it settles."""
    usage, reserved = reply.usage, reply.reserved or MaxCost(Decimal(), 0)
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_write_tokens": usage.written_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cost_usd": reply.cost_usd,
        "unpriced_calls": int(reply.cost_usd is None),
        "tokens": usage.tokens,
        "reserved_usd": reserved.usd,
        "reserved_tokens": reserved.tokens,
        "reserved_calls": int(reply.reserved is not None),
        "calls": "{}" if reply.reserved is None else f"{{{reserved.call}}}",
    }


def answer_columns(answer: ServiceAnswer) -> dict[str, Any]:
    """What an answer of a service cost, as the columns of the reply of a model; it has no tokens."""
    reply = Reply((), "", cost_usd=answer.cost_usd, reserved=answer.reserved)
    body = {"service": answer.service, "answer": answer.data}
    return reply_columns(reply) | {"service": answer.service, "body": json_text(body)}


NO_REPLY = reply_columns(Reply((), "")) | {"unpriced_calls": 0}


def entry_columns(entry: Opening | Question | Compaction | Reply) -> dict[str, Any]:
    """An entry as the columns of its row, and what it settles."""
    return (reply_columns(entry) if isinstance(entry, Reply) else NO_REPLY) | {
        "kind": KINDS[type(entry)],
        "epoch": entry.epoch if isinstance(entry, Opening) else None,
        "turns": int(isinstance(entry, Reply)),
        "body": json_text(entry.body()),
    }


def entry_of(row: DictRow) -> Opening | Question | Compaction | Reply:
    """The entry that a row holds."""
    body = row["body"]
    match row["kind"]:
        case "opening":
            frozen = body["model"], body["system"], tuple(body["tools"]), body["max_tokens"]
            options = {name: body[name] for name in OPENING_OPTIONS if name in body}
            return Opening(*frozen, epoch=row["epoch"], **options)
        case "question":
            return Question(body["text"])
        case "folding":
            return Compaction(body["text"])
    return reply_of_row(row)


def entries_of(rows: Sequence[DictRow], result_rows: Iterable[DictRow]) -> list[Entry]:
    """The entries that rows hold, in order; the results of a reply follow it once every call has one."""
    results_by_call = {(row["n"], row["call_id"]): result_of(row) for row in result_rows}
    entries: list[Entry] = []
    for row in rows:
        entry = entry_of(row)
        entries.append(entry)
        if isinstance(entry, Reply) and entry.has_open_calls:
            call_results = [results_by_call.get((row["n"], call.id)) for call in entry.calls]
            if None not in call_results:
                entries.append(Results(tuple(result for result in call_results if result)))
    return entries


def reply_of_row(row: DictRow) -> Reply:
    """The reply that a row holds."""
    body = row["body"]
    usage = Usage(
        input_tokens=row["input_tokens"],
        output_tokens=row["output_tokens"],
        cache_write_tokens=row["cache_write_tokens"],
        cache_read_tokens=row["cache_read_tokens"],
    )
    return Reply(
        tuple(body["content"]),
        body["stop_reason"],
        usage,
        row["cost_usd"],
        body["model"],
        body["request_id"],
        is_compaction=body.get("folds", False),
        problem=body.get("problem", ""),
        rejected=tuple(body.get("rejected", ())),
        is_usage_unknown=body.get("usage_unknown", False),
        reported=ReportedCost.of_json(body["reported"]) if "reported" in body else None,
    )


def answer_of_row(row: DictRow) -> ServiceAnswer:
    """The answer of a service that a row holds."""
    return ServiceAnswer(row["body"]["service"], row["body"]["answer"], row["cost_usd"])


def result_columns(call: ToolCall, result: ToolResult) -> dict[str, Any]:
    """The columns of a call's result."""
    return {
        "call_id": call.id,
        "name": storable(call.name),
        "is_error": result.is_error,
        "body": result.text,
        "whole": result.whole,
        "ends_silently": result.ends_silently,
    }


def result_of(row: DictRow) -> ToolResult:
    """The result that a row holds."""
    return ToolResult(row["call_id"], row["body"], row["is_error"], ends_silently=row["ends_silently"])
