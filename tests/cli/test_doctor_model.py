"""`chiron doctor --model`: what a probe says of models behind scripted servers."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from support.loop_thread import LoopThread, loop_thread
from support.scripted_model import Fails, Says, Script, call, calls, says, scripted_model

from chiron_api.local_stack.ports import free_port

WORDS = '{"name": "report_number", "arguments": {"number": 7}}'


@pytest.fixture(autouse=True)
def own_logging(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undoes what the command sets up for its process, and lets no logger of this one keep it."""
    configure, before, root = structlog.configure, structlog.get_config(), logging.getLogger()
    handlers, level = list(root.handlers), root.level
    monkeypatch.setattr(
        structlog, "configure", lambda **how: configure(**{**how, "cache_logger_on_first_use": False})
    )
    yield
    root.handlers, root.level = handlers, level
    configure(**before)


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    with loop_thread() as loop:
        yield loop


def is_first(request: dict[str, Any]) -> bool:
    return "report_number" in str(request["messages"][-1]["content"])


def calls_and_stops(request: dict[str, Any]) -> Says:
    return calls(call("report_number", number=7)) if is_first(request) else says("ready")


def stops_for_calls_with_end_turn(request: dict[str, Any]) -> Says:
    return Says((call("report_number", number=7),)) if is_first(request) else says("ready")


def writes_its_calls(request: dict[str, Any]) -> Says:
    return says(WORDS) if is_first(request) else says("ready")


def never_stops(request: dict[str, Any]) -> Says:
    return (
        calls(call("report_number", number=7)) if is_first(request) else says("ready " * 9, stop="max_tokens")
    )


def says_nothing(_: dict[str, Any]) -> Says:
    return says()


def refuses_the_key(_: dict[str, Any]) -> Fails:
    return Fails(status=401, type="authentication_error", message="invalid x-api-key")


def probe(chiron: Any, monkeypatch: pytest.MonkeyPatch, url: str) -> tuple[int, dict[str, Any]]:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("CHIRON_CONTEXT_TOKENS", '{"small": 16000}')
    result = chiron("doctor", "--model", "small", "--json")
    answer = json.loads(result.stdout)
    assert answer["ok"] is (result.exit_code == 0)
    return result.exit_code, {check["name"]: check for check in answer["checks"]}


@pytest.mark.parametrize(
    ("script", "problems"),
    [
        (calls_and_stops, {}),
        (stops_for_calls_with_end_turn, {}),
        (writes_its_calls, {"model calls": "as text"}),
        (never_stops, {"model stops": "does not stop"}),
        (says_nothing, {"model calls": "calls no tool", "model stops": "no answer"}),
        (refuses_the_key, {"model": "invalid x-api-key|refuse"}),
    ],
)
def test_doctor_says_of_a_model_what_would_keep_its_runs_from_going_on(
    chiron: Any, monkeypatch: pytest.MonkeyPatch, loop: LoopThread, script: Script, problems: dict[str, str]
) -> None:
    with loop.entered(scripted_model(script)) as server:
        exit_code, checks = probe(chiron, monkeypatch, server.url)
        assert len(server.requests) <= 2
    assert exit_code == (1 if problems else 0)
    assert {name for name, check in checks.items() if not check["ok"]} == set(problems)
    for name, words in problems.items():
        assert any(each in checks[name]["found"] for each in words.split("|")), checks[name]
    if "model" not in problems:
        assert "2 calls" in checks["model"]["found"]
        assert "16,000 tokens" in checks["model window"]["found"]


def test_doctor_says_that_a_model_does_not_answer(chiron: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    exit_code, checks = probe(chiron, monkeypatch, f"http://127.0.0.1:{free_port()}")
    assert exit_code == 1
    assert "does not answer" in checks["model"]["found"]


@pytest.mark.parametrize(
    ("described", "words"),
    [
        ({"max_input_tokens": 9_000}, "9,000 tokens, as its server"),
        ({"max_input_tokens": 4_000}, "4,000 tokens, as its server"),
        ({}, "assumed"),
    ],
)
def test_doctor_says_where_the_size_of_the_window_is_from(
    chiron: Any, monkeypatch: pytest.MonkeyPatch, loop: LoopThread, described: dict[str, int], words: str
) -> None:
    with loop.entered(scripted_model(calls_and_stops, capabilities={})) as server:
        server.described = described
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
        result = chiron("doctor", "--model", "other")
    [line] = [line for line in result.stdout.splitlines() if "model window" in line]
    assert words in line
    assert line.startswith("ok") is ("4,000" not in words)
