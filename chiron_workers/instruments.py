"""What a worker counts and measures, for Prometheus: in memory here, as a row in Postgres by `telemetry/worker_metrics.py`.

Names and labels are OpenTelemetry's for GenAI where it has them, in Prometheus' spelling. No label has values without bound:
no topic, id or owner.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

MODELS_MAX = 20  # that a process tells apart; whoever submits names a run's model
OTHER_LABEL = "_OTHER"  # as OpenTelemetry calls what a label does not tell apart
MODEL_LABELS = ("gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model")
CALL_BUCKETS_S = (0.01, 0.04, 0.16, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92, 300, 900)
COMMIT_BUCKETS_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60)
LAG_BUCKETS_S = (0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
STALL_BUCKETS_S = (0.2, 0.5, 1, 2, 5, 10, 30, 60)

REGISTRY = CollectorRegistry()


def _token_counter(kind: str, words: str) -> Counter:
    labels = (*MODEL_LABELS, "gen_ai_token_modality")
    return Counter(f"gen_ai_client_inference_usage_{kind}_tokens", words, labels, registry=REGISTRY)


_inference_duration = Histogram(
    "gen_ai_client_inference_duration_seconds",
    "How long model calls took, with their waits and tries.",
    (*MODEL_LABELS, "error_type"),
    buckets=CALL_BUCKETS_S,
    registry=REGISTRY,
)
_tokens = (  # in the order of TokenCounts
    _token_counter("input", "Tokens sent to models, with those that the cache read and wrote."),
    _token_counter("output", "Tokens that models answered."),
    _token_counter("cache_read_input", "Tokens of the input that the prompt cache had."),
    _token_counter("cache_write_input", "Tokens of the input that were written to the prompt cache."),
)
_tool_duration = Histogram(
    "gen_ai_execute_tool_duration_seconds",
    "How long tool calls took.",
    ("gen_ai_tool_name", "error_type"),
    buckets=CALL_BUCKETS_S,
    registry=REGISTRY,
)
_tool_errors = Counter(
    "chiron_tool_errors", "Tool calls that ended with an error.", ("gen_ai_tool_name",), registry=REGISTRY
)
_turns = Counter("chiron_turns", "Replies of models that runs went on with.", registry=REGISTRY)
_spent = Counter(
    "chiron_spent_usd", "What committed replies cost, in USD.", ("gen_ai_request_model",), registry=REGISTRY
)
_services_spent = Counter(
    "chiron_services_spent_usd",
    "What committed answers of embedding models and search providers cost runs, in USD.",
    ("service",),
    registry=REGISTRY,
)
_commits = Histogram(
    "chiron_reply_commit_duration_seconds",
    "From a complete reply to its commit.",
    buckets=COMMIT_BUCKETS_S,
    registry=REGISTRY,
)
_lost_replies = Counter(
    "chiron_lost_replies", "Replies that were paid for and could not be committed.", registry=REGISTRY
)
_lease_losses = Counter("chiron_lease_losses", "Executions whose lease was lost.", registry=REGISTRY)
_duty_failures = Counter(
    "chiron_duty_failures",
    "Items that duties of workers failed at, such as a subscription that cannot be started.",
    ("duty",),
    registry=REGISTRY,
)
_pauses = Counter(
    "chiron_pauses", "Runs that workers paused, by the kind of their error.", ("reason",), registry=REGISTRY
)
_event_lag = Histogram(
    "chiron_event_lag_seconds",
    "From an event's commit to its publication in Redis.",
    buckets=LAG_BUCKETS_S,
    registry=REGISTRY,
)
_dropped_events = Counter(
    "chiron_dropped_events",
    "Events that were not published; watchers find those that are numbered in Postgres.",
    registry=REGISTRY,
)
_stalls = Histogram(
    "chiron_loop_stall_duration_seconds",
    "How long event loops of workers stood still.",
    buckets=STALL_BUCKETS_S,
    registry=REGISTRY,
)
_slots = Gauge("chiron_slots", "Runs that living workers can execute at once.", registry=REGISTRY)
_redis_refusals = Gauge(
    "chiron_redis_refusals", "Living workers that Redis refuses or does not answer.", registry=REGISTRY
)
_busy_slots = Gauge("chiron_busy_slots", "Runs that living workers execute now.", registry=REGISTRY)

_models: set[str] = set()


class TokenCounts(NamedTuple):
    """Tokens of a reply; the input includes what the cache read and wrote."""

    input: int
    output: int
    cache_read_input: int
    cache_write_input: int


@contextmanager
def timed_model_call(model: str) -> Iterator[None]:
    """Record how long a model call took, and the class of the error it ended with."""
    began, error_type = time.monotonic(), ""
    try:
        yield
    except BaseException as error:
        error_type = type(error).__name__
        raise
    finally:
        _duration_of_calls(_model_label(model), error_type).observe(time.monotonic() - began)


def record_reply(
    model: str, tokens: TokenCounts, cost_usd: Decimal | None, *, is_turn: bool, commit_s: float
) -> None:
    """Record a reply that was committed; `is_turn` is false where it answers a question of a tool."""
    label = _model_label(model)
    for counter, count in zip(_tokens_of(label), tokens, strict=True):
        counter.inc(count)
    if cost_usd is not None:
        _spent_on(label).inc(float(cost_usd))
    if is_turn:
        _turns.inc()
    _commits.observe(commit_s)


def record_service_answer(service: str, cost_usd: Decimal) -> None:
    """Record an answer of a hosted service that was committed."""
    _services_spent.labels(service).inc(float(cost_usd))


def record_lost_reply() -> None:
    """Count a reply that could not be committed."""
    _lost_replies.inc()


def record_tool_call(name: str | None, seconds: float, *, is_error: bool) -> None:
    """Record a tool call whose result was committed; `name` is None where there is no such tool."""
    label = name or OTHER_LABEL
    _duration_of_tool(label, "tool_error" if is_error else "").observe(seconds)
    if is_error:
        _tool_errors.labels(label).inc()


def record_lease_loss() -> None:
    """Count an execution whose lease another worker has, or nobody."""
    _lease_losses.inc()


def record_duty_failure(duty: str) -> None:
    """Count an item that a duty failed at."""
    _duty_failures.labels(duty).inc()


def record_pause(kind: str) -> None:
    """Count a run that is paused, since it meets a budget or gets nowhere; `kind` is that of its error."""
    _pauses.labels(kind).inc()


def record_publication(seconds: float) -> None:
    """Record how long an event waited to be published."""
    _event_lag.observe(seconds)


def record_dropped_event() -> None:
    """Count an event that is not published."""
    _dropped_events.inc()


def record_stall(seconds: float) -> None:
    """Count a stall of the event loop; callable from any thread."""
    _stalls.observe(seconds)


def set_slots(slots: int, *, busy: int) -> None:
    """Say how many runs this worker can execute, and how many it executes."""
    _slots.set(slots)
    _busy_slots.set(busy)


def set_redis_refusal(*, is_refused: bool) -> None:
    """Say whether Redis refuses this worker's writes, or does not answer."""
    _redis_refusals.set(int(is_refused))


# Looking a label up takes longer than counting.
@cache
def _duration_of_calls(model: str, error_type: str) -> Histogram:
    return _inference_duration.labels("chat", "anthropic", model, error_type)


@cache
def _tokens_of(model: str) -> tuple[Counter, ...]:
    return tuple(counter.labels("chat", "anthropic", model, "text") for counter in _tokens)


@cache
def _spent_on(model: str) -> Counter:
    return _spent.labels(model)


@cache
def _duration_of_tool(name: str, error_type: str) -> Histogram:
    return _tool_duration.labels(name, error_type)


def _model_label(model: str) -> str:
    if model in _models:
        return model
    if len(_models) >= MODELS_MAX:
        return OTHER_LABEL
    _models.add(model)
    return model
