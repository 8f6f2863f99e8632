"""Entries and results as rows, and back."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from psycopg.rows import DictRow

from chiron_workers.runs.entries import Compaction, Opening, Question, Reply, ToolResult, Usage
from chiron_workers.runs.fence import json_text

KINDS = {Opening: "opening", Question: "question", Compaction: "folding", Reply: "reply"}


def cost_columns(replies: Sequence[Reply]) -> dict[str, Any]:
    """The columns that take up what replies of a tool's questions used and cost."""
    return _settlement(replies) | {
        "input_tokens": sum(reply.usage.input_tokens for reply in replies),
        "output_tokens": sum(reply.usage.output_tokens for reply in replies),
        "cache_write_tokens": sum(reply.usage.written_tokens for reply in replies),
        "cache_read_tokens": sum(reply.usage.cache_read_tokens for reply in replies),
        "cost_usd": sum((reply.cost_usd or Decimal() for reply in replies), Decimal()),
    }


def _settlement(replies: Sequence[Reply]) -> dict[str, Any]:
    max_costs = [reply.reserved for reply in replies if reply.reserved is not None]
    return {
        "tokens": sum(reply.usage.tokens for reply in replies),
        "reserved_usd": sum((max_cost.usd for max_cost in max_costs), Decimal()),
        "reserved_tokens": sum(max_cost.tokens for max_cost in max_costs),
        "reserved_calls": len(max_costs),
        "calls": f"{{{','.join(str(max_cost.call) for max_cost in max_costs)}}}",
    }


def entry_columns(entry: Opening | Question | Compaction | Reply) -> dict[str, Any]:
    """An entry as the columns of its row, and what it settles."""
    usage = entry.usage if isinstance(entry, Reply) else Usage()
    return _settlement([entry] if isinstance(entry, Reply) else []) | {
        "kind": KINDS[type(entry)],
        "epoch": entry.epoch if isinstance(entry, Opening) else None,
        "turns": int(isinstance(entry, Reply)),
        "body": json_text(entry.body()),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_write_tokens": usage.written_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cost_usd": entry.cost_usd if isinstance(entry, Reply) else None,
    }


def entry_of(row: DictRow) -> Opening | Question | Compaction | Reply:
    """The entry that a row holds."""
    body = row["body"]
    match row["kind"]:
        case "opening":
            frozen = body["model"], body["system"], tuple(body["tools"]), body["max_tokens"]
            return Opening(*frozen, body.get("question"), row["epoch"])
        case "question":
            return Question(body["text"])
        case "folding":
            return Compaction(body["text"])
    return reply_of_row(row)


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
    )


def result_of(row: DictRow) -> ToolResult:
    """The result that a row holds."""
    return ToolResult(row["call_id"], row["body"], row["is_error"], ends_silently=row["ends_silently"])
