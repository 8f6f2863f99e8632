"""Traces of runs, as a real collector gets them over OTLP/HTTP."""

import os
import threading
import time
import timeit
from collections.abc import Iterator

import pytest
from support import bare_interpreter
from support.otlp_collector import Collector, collector
from support.run_harness import Stage
from support.scripted_model import Fails, Says, call, calls, says, text, turn

from chiron_workers.runs.entries import ToolCall
from chiron_workers.states import Outcome
from chiron_workers.telemetry import spans, tracing
from chiron_workers.telemetry.exporters import TRACES, exporter_names


@pytest.fixture
def tracing_to(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    """A collector that spans go to; `tracing.stop` sends the last of them, and no sender outlives the test."""
    threads = set(threading.enumerate())
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    with collector() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2")
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
        yield found
        tracing.stop()
    for thread in set(threading.enumerate()) - threads:
        if "span" in thread.name.lower() or thread.name.startswith("last-"):
            thread.join(60)
            assert not thread.is_alive(), f"{thread.name} still sends"


def working(request: dict) -> Says | Fails:  # type: ignore[type-arg]
    return [
        calls(text("SECRET thoughts"), call("echo", words="SECRET words"), call("explode")),
        calls(call("no_such_tool", words="SECRET")),
        says("SECRET answer"),
    ][turn(request)]


async def test_a_run_is_one_trace_of_its_taking_its_model_calls_and_its_tool_calls(
    stage: Stage, tracing_to: Collector
) -> None:
    tracing.start()
    await stage.model(working)
    (run_id,) = await stage.submit("SECRET tides")
    assert await stage.play(run_id) is Outcome.PLAYED
    tracing.stop()
    (taking,) = tracing_to.named("invoke_agent research")
    assert taking.parent_id == ""
    assert taking.service == "chiron-worker"
    about = taking.attributes
    assert (about["gen_ai.operation.name"], about["gen_ai.agent.name"]) == ("invoke_agent", "research")
    assert about["gen_ai.conversation.id"] == about["chiron.run.id"] == str(run_id)
    assert (about["chiron.taking"], about["chiron.outcome"]) == (1, "played")
    others = [span for span in tracing_to.spans if span is not taking]
    assert {(span.trace_id, span.parent_id) for span in others} == {(taking.trace_id, taking.span_id)}
    assert len(tracing_to.named("chat claude-opus-5-5")) == len(stage.server.requests) == 3
    assert sorted(span.name for span in tracing_to.named("execute_tool")) == [
        "execute_tool echo",
        "execute_tool explode",
        "execute_tool no_such_tool",
    ]


async def test_a_model_call_tells_its_tokens_as_the_conventions_count_them(
    stage: Stage, tracing_to: Collector
) -> None:
    tracing.start()
    usage = {
        "input_tokens": 100,
        "output_tokens": 10,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 5,
    }
    await stage.model(lambda _: Says((text("done"),), usage=usage))
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    tracing.stop()
    (chat,) = tracing_to.named("chat")
    found = chat.attributes
    expected = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "claude-opus-5-5",
        "gen_ai.response.finish_reasons": ["end_turn"],
        "gen_ai.usage.input_tokens": 112,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 7,
        "gen_ai.usage.cache_creation.input_tokens": 5,
        "server.address": "127.0.0.1",
        "server.port": int(stage.server.url.rpartition(":")[2]),
        "chiron.input.messages": 1,
        "chiron.result.chars": 4,
        "chiron.tries": 1,
    }
    assert {key: found.get(key) for key in expected} == expected
    assert found["chiron.cost_usd"] > 0
    assert chat.kind == 3  # client
    assert not chat.is_error


async def test_a_tool_call_tells_sizes_and_the_kind_of_its_error(stage: Stage, tracing_to: Collector) -> None:
    tracing.start()
    await stage.model(working)
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    tracing.stop()
    by_name = {span.attributes["gen_ai.tool.name"]: span for span in tracing_to.named("execute_tool")}
    echo = by_name["echo"].attributes
    assert echo["gen_ai.tool.call.id"].startswith("toolu_")
    assert echo["chiron.tool.arguments.chars"] == len('{"words": "SECRET words"}')
    assert echo["chiron.tool.result.chars"] == len("SECRET words")
    assert {name: span.attributes.get("error.type") for name, span in by_name.items()} == {
        "echo": None,
        "explode": "RuntimeError",
        "no_such_tool": "ToolNotFoundError",
    }
    assert {name for name, span in by_name.items() if span.is_error} == {"explode", "no_such_tool"}


async def test_what_is_said_stays_here_unless_it_is_asked_for(
    stage: Stage, tracing_to: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    for captures in (False, True):
        if captures:
            monkeypatch.setenv(tracing.CAPTURE, "true")
        tracing.start()
        await stage.model(working)
        (run_id,) = await stage.submit("SECRET tides at https://me:PASSWORD@a.org/?token=PASSWORD")
        await stage.play(run_id)
        tracing.stop()
        assert any(b"SECRET" in body for body in tracing_to.bodies) is captures
    assert not any(b"PASSWORD" in body for body in tracing_to.bodies)
    last = tracing_to.named("chat")[-1].attributes
    assert '"parts": [{"type": "text", "content": "SECRET answer"}]' in last["gen_ai.output.messages"]
    assert "no_such_tool" in last["gen_ai.input.messages"]
    assert "SECRET thoughts" not in last["gen_ai.input.messages"]  # it stands in an earlier span
    assert "research agent" in last["gen_ai.system_instructions"]
    words = {span.attributes.get("gen_ai.tool.call.result") for span in tracing_to.named("execute_tool echo")}
    assert words == {None, "SECRET words"}


async def test_the_takings_of_a_run_are_in_one_trace_and_other_runs_in_others(
    stage: Stage, tracing_to: Collector
) -> None:
    tracing.start()
    first, second = await stage.submit("tides", "moons")
    await stage.model(lambda _: Fails(status=529, type="overloaded_error"))
    stage.settings = stage.settings.model_copy(update={"model_tries": 1})
    assert await stage.play(first) is Outcome.LEFT
    await stage.end_waiting()
    await stage.model(lambda _: says("done"))
    assert await stage.play(first) is Outcome.PLAYED
    assert await stage.play(second) is Outcome.PLAYED
    tracing.stop()
    takings = tracing_to.named("invoke_agent")
    assert [span.attributes["chiron.taking"] for span in takings] == [1, 2, 1]
    assert takings[0].trace_id == takings[1].trace_id != takings[2].trace_id
    failed = tracing_to.named("chat")[0]
    assert (failed.is_error, failed.attributes["error.type"]) == (True, "ModelUnavailable")
    assert failed.parent_id == takings[0].span_id


async def test_a_failed_run_is_an_error(stage: Stage, tracing_to: Collector) -> None:
    tracing.start()
    await stage.model(lambda _: says("No.", stop="refusal"))
    (run_id,) = await stage.submit("tides")
    assert await stage.play(run_id) is Outcome.FAILED
    tracing.stop()
    (taking,) = tracing_to.named("invoke_agent")
    assert (taking.is_error, taking.attributes["error.type"]) == (True, "run.failed")


@pytest.mark.parametrize("kind", ["dead", "hanging"])
async def test_a_collector_that_does_not_answer_holds_up_nothing(
    stage: Stage, tracing_to: Collector, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    with collector(hangs=True) as hanging:
        url = hanging.url if kind == "hanging" else "http://127.0.0.1:9"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
        monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "2")
        monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
        tracing.start()
        await stage.model(
            lambda request: calls(call("echo", words="x")) if turn(request) < 5 else says("done")
        )
        for run_id in await stage.submit("tides", "moons"):
            assert await stage.play(run_id) is Outcome.PLAYED
        began = time.monotonic()
        tracing.stop(within_s=0.2)
        assert time.monotonic() - began < 15, "the SDK would wait for half a minute"


@pytest.mark.parametrize(
    ("environment", "names"),
    [
        ({}, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, ["otlp"]),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://x"}, ["otlp"]),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, ["console", "otlp"]),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, []),
        ({"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, []),
    ],
)
def test_the_standard_variables_say_whether_there_is_an_exporter(
    environment: dict[str, str], names: list[str]
) -> None:
    assert exporter_names(environment, TRACES) == names


@pytest.mark.parametrize(
    "variables",
    [
        {"OTEL_TRACES_EXPORTER": "nobody"},
        {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
    ],
)
def test_an_exporter_that_cannot_be_had_is_left_out(
    tracing_to: Collector, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    tracing.start()
    assert spans.tool_call(ToolCall("1", "echo", {})) is spans.OFF


def test_without_an_exporter_nothing_of_the_sdk_is_imported() -> None:
    # redis-py imports the SDK's metrics by itself wherever they are installed.
    program = (
        "from chiron_workers.telemetry import tracing; from chiron_workers.agent import play; tracing.start()"
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    modules = bare_interpreter.run(program, env=env).modules
    assert "chiron_workers.agent.play" in modules
    assert [
        name for name in modules if name.startswith(("opentelemetry.sdk.trace", "opentelemetry.exporter"))
    ] == []


def test_a_span_that_is_off_costs_next_to_nothing() -> None:
    called = ToolCall("1", "echo", {"words": "x" * 10_000})

    def once() -> None:
        with spans.tool_call(called) as span:
            span.ended(Outcome.PLAYED)

    seconds = min(timeit.repeat(once, number=10_000, repeat=5)) / 10_000
    assert seconds < 5e-6  # 0.4e-6 where it was measured
