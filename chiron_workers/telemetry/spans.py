"""A span for each execution of a run, each model call and each tool call, named after OpenTelemetry's conventions for GenAI.

Nothing is recorded, and nothing of OpenTelemetry imported here, until `tracing.start` finds an exporter in the environment.
"""

import json
from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from chiron_workers.public_addresses import without_secrets
from chiron_workers.runs.entries import Block, Reply, ToolCall, ToolResult
from chiron_workers.runs.leases import Run
from chiron_workers.runs.messages import Message
from chiron_workers.states import Outcome

if TYPE_CHECKING:
    from opentelemetry import trace
    from opentelemetry.context import Context

CONTENT_CHARS = 100_000  # of one attribute, where content is captured
NAME_CHARS = 64
PORTS = {"http": 80, "https": 443}

trace_of_execution: ContextVar[int | None] = ContextVar("trace_of_taking", default=None)


@dataclass(slots=True)
class _Recorder:
    tracer: "trace.Tracer | None" = None
    captures: bool = False  # the words of prompts, replies and results, too


_recorder = _Recorder()


def set_tracer(tracer: "trace.Tracer | None", *, captures: bool = False) -> None:
    """Record with this tracer from now on; None stops it. `captures` adds the content of prompts, replies and results."""
    _recorder.tracer, _recorder.captures = tracer, captures


class Span:
    """Records nothing."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        return None

    def replied(self, reply: Reply, *, tries: int) -> None:
        """Record the reply of a model call."""

    def returned(self, result: ToolResult, error: BaseException | None = None) -> None:
        """Record the result of a tool call, and the error that it reports."""

    def ended(self, outcome: Outcome) -> None:
        """Record the outcome of an execution."""


OFF = Span()


def execution(run: Run) -> Span:
    """The span of one execution of a run. All executions of a run, in whatever workers, are in one trace."""
    if _recorder.tracer is None:
        return OFF
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": run.role,
        "gen_ai.conversation.id": str(run.id),
        "gen_ai.request.model": run.model,
        "chiron.run.id": str(run.id),
        "chiron.batch.id": str(run.batch_id),
        "chiron.taking": run.lease,
        "chiron.attempt": run.attempt,
    }
    return _RecordedSpan(f"invoke_agent {run.role}", attributes, trace_id=trace_id(run))


def trace_id(run: Run) -> int:
    """The trace of a run: a hash, since samplers take the lower half of a trace id for random."""
    return int.from_bytes(blake2b(run.id.bytes, digest_size=16).digest(), "big")


def chat(
    model: str,
    max_tokens: int,
    system: str,
    messages: Sequence[Message],
    *,
    history: int,
    server: Callable[[], str],
) -> Span:
    """The span of one model call with all its tries.

    Args:
        history: How many messages came before those.
        server: Gives the model server's address.
    """
    if _recorder.tracer is None:
        return OFF
    address = urlsplit(server())
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": model,
        "gen_ai.request.max_tokens": max_tokens,
        "gen_ai.request.stream": True,
        "server.address": address.hostname or "",
        "server.port": address.port or PORTS.get(address.scheme, 0),
        "chiron.input.messages": history + len(messages),
    }
    if _recorder.captures:
        attributes["gen_ai.system_instructions"] = _json([{"type": "text", "content": system}])
        attributes["gen_ai.input.messages"] = _json(
            [_message_json(message.role, message.content()) for message in _new_messages(messages)]
        )
    return _RecordedSpan(f"chat {model}", attributes, calls_out=True)


def tool_call(call: ToolCall) -> Span:
    """The span of one tool call."""
    if _recorder.tracer is None:
        return OFF
    arguments = _json(call.arguments)
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name[:NAME_CHARS],
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.type": "function",
        "chiron.tool.arguments.chars": len(arguments),
    }
    if _recorder.captures:
        attributes["gen_ai.tool.call.arguments"] = arguments
    return _RecordedSpan(f"execute_tool {call.name[:NAME_CHARS]}", attributes)


class _RecordedSpan(Span):
    __slots__ = ("_attributes", "_calls_out", "_name", "_span", "_token", "_trace_id")
    _span: "trace.Span"
    _token: "Token[Context]"

    def __init__(
        self, name: str, attributes: dict[str, Any], *, trace_id: int | None = None, calls_out: bool = False
    ) -> None:
        self._name = name
        self._attributes = attributes
        self._trace_id = trace_id
        self._calls_out = calls_out

    def __enter__(self) -> Self:
        from opentelemetry import context, trace

        assert _recorder.tracer is not None
        kind = trace.SpanKind.CLIENT if self._calls_out else trace.SpanKind.INTERNAL
        within = None if self._trace_id is None else context.Context()  # an execution has no parent
        mark = trace_of_execution.set(self._trace_id)
        try:
            self._span = _recorder.tracer.start_span(
                self._name, within, kind, self._attributes, record_exception=False
            )
        finally:
            trace_of_execution.reset(mark)
        self._token = context.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from opentelemetry import context

        if error is not None:
            self._fail(error)
        context.detach(self._token)
        self._span.end()

    def replied(self, reply: Reply, *, tries: int) -> None:
        """As the conventions count: the input includes what the cache read and wrote."""
        usage = reply.usage
        attributes: dict[str, Any] = {
            "gen_ai.response.model": reply.model,
            "gen_ai.response.finish_reasons": [reply.stop],
            "gen_ai.usage.input_tokens": usage.tokens - usage.output_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.written_tokens,
            "chiron.request_id": reply.request_id,
            "chiron.result.chars": len(reply.text),
            "chiron.result.calls": len(reply.calls),
            "chiron.tries": tries,
        }
        if reply.cost_usd is not None:
            attributes["chiron.cost_usd"] = float(reply.cost_usd)
        if _recorder.captures:
            message = _message_json("assistant", reply.content) | {"finish_reason": reply.stop}
            attributes["gen_ai.output.messages"] = _json([message])
        self._span.set_attributes(attributes)

    def returned(self, result: ToolResult, error: BaseException | None = None) -> None:
        """Its size, and the words only where content is captured."""
        self._span.set_attribute("chiron.tool.result.chars", len(result.whole or result.text))
        if _recorder.captures:
            self._span.set_attribute("gen_ai.tool.call.result", without_secrets(result.text)[:CONTENT_CHARS])
        if error is not None:
            self._fail(error)

    def ended(self, outcome: Outcome) -> None:
        self._span.set_attribute("chiron.outcome", outcome)
        if outcome is Outcome.FAILED:
            self._fail(None)

    def _fail(self, error: BaseException | None) -> None:
        from opentelemetry.trace import Status, StatusCode

        kind = "run.failed" if error is None else type(error).__name__
        is_told = error is not None and _recorder.captures  # it may quote
        words = without_secrets(str(error))[:300] if is_told else None
        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR, words))


def _new_messages(messages: Sequence[Message]) -> Sequence[Message]:
    """What came after the last reply: what was before it stands in the spans before."""
    replies = [n for n, message in enumerate(messages) if message.role == "assistant"]
    return messages[replies[-1] + 1 :] if replies else messages


def _message_json(role: str, content: Sequence[Block]) -> dict[str, Any]:
    return {"role": role, "parts": [_part_json(block) for block in content]}


def _part_json(block: Block) -> dict[str, Any]:
    match block["type"]:
        case "text":
            return {"type": "text", "content": block["text"]}
        case "tool_use":
            return {
                "type": "tool_call",
                "id": block["id"],
                "name": block["name"],
                "arguments": block["input"],
            }
        case "tool_result":
            return {"type": "tool_call_response", "id": block["tool_use_id"], "response": block["content"]}
        case "thinking":
            return {"type": "reasoning", "content": block.get("thinking", "")}
    return {"type": str(block["type"])}


def _json(value: object) -> str:
    return without_secrets(json.dumps(value, ensure_ascii=False, default=str))[:CONTENT_CHARS]
