"""What the client can ask of the API, held to the OpenAPI document."""

import inspect
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, get_args, get_origin, get_type_hints
from uuid import UUID, uuid4

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from chiron_api.answers.journeys import JourneyEvent, JourneyState
from chiron_api.client import AsyncChiron, Chiron, Column, Topic, calls, derived_calls
from chiron_api.client.call import Call, Listing, Wait
from chiron_api.http.document import document
from chiron_workers import states

LEFT_OUT = {
    "show_openapi": "who wants the document can fetch it",
    "show_metrics": "Prometheus reads it",
}
TIME = datetime(2026, 10, 1, tzinfo=UTC)
TOPIC: dict[str, Any] = {
    "topic": "Ice", "subject": "Sea", "role": "research", "model": "m", "thinking": "auto", "effort": "low",
    "priority": 1, "max_turns": 2, "budget_usd": Decimal("1.5"), "budget_tokens": 5, "ready_at": TIME, "context": "Of lakes.",
}  # fmt: skip
SAMPLES: dict[str, Any] = {
    "budget_period": "day", "content": b"Ice", "expires_at": TIME, "owner": "ada", "path": "a/ice.md",
    "requests_per_minute": 60, "scope": "submit", "state": "running", "status": "accepted", "topic": "Ice",
    "with_revoked": True, "url": "https://example.org/hook", "kinds": ["batch.completed"], "webhook": UUID(int=6),
    "delivery": UUID(int=7), "lesson": UUID(int=8), "node": "Ice", "drafts": True,
    "journey": UUID(int=13), "goal": "Understand ice", "depth": "overview", "proposal": UUID(int=12), "accept": True,
    "facts_min": 2, "topics_max": 5,
    "context": "Of lakes.", "count": 3, "mark": "right", "question": UUID(int=10), "quiz": UUID(int=11), "response": "1.9 m",
    "title": "Ice", "purpose_statement": "Read it", "target_depth": "expert",
    "after": None, "again": True, "arguments": {"subject": None}, "batch": UUID(int=1), "budget_tokens": 1_000,
    "budget_usd": Decimal("2.5"), "candidates": True, "concurrency": 3, "cron": "0 9 * * MON", "effort": "high",
    "ends_at": TIME, "fact": UUID(int=2), "format": "html", "from_scratch": True, "idempotency_key": "k",
    "limit": 7, "max_turns": 9, "min_confidence": 0.5, "mode": "text", "model": "m", "name": "list_subjects", "history": True,
    "neighbours": True, "node_id": str(UUID(int=9)), "priority": 4, "query": "ice", "ready_at": TIME, "reason": "wrong",
    "recheck": True, "role": "research", "run": UUID(int=3), "run_budget_tokens": 5, "run_budget_usd": 1,
    "since": TIME, "source": "example", "subject": "Sea ice", "subject_id": "sea-ice", "subscription": UUID(int=4),
    "text": "Go on.", "thinking": "auto", "time_zone": "UTC", "timeout_s": 1.0, "top_k": 3, "topic_path": "a/b",
    "columns": ["name", Column("year", "int")], "topics": ["Ice"], "until": TIME, "validated_since": TIME, "with_facts": True,
}  # fmt: skip


def builders() -> dict[str, Callable[..., Any]]:
    """The functions that make the calls, by name."""
    return {
        name: function
        for module in (calls, derived_calls)
        for name, function in vars(module).items()
        if inspect.isfunction(function)
        and not name.startswith("_")
        and function.__module__ == module.__name__
    }


def calls_of(name: str) -> list[Call[Any]]:
    """What a function makes with all its arguments, once for each thing that it can be about."""
    function = builders()[name]
    names = set(inspect.signature(function).parameters)
    targets = set() if name == "runs" else names & {"batch", "run", "subject"}
    alternatives = (
        [{target} for target in sorted(targets)] if "batch" in targets and len(targets) > 1 else [targets]
    )
    made = [
        function(**{argument: sample(name, argument) for argument in (names - targets) | alternative})
        for alternative in alternatives
    ]
    return [_request(built) for built in made]


def _request(built: Call[Any] | Listing[Any] | Wait[Any]) -> Call[Any]:
    if isinstance(built, Listing):
        return built.page(uuid4())
    return built.call if isinstance(built, Wait) else built


def sample(function: str, argument: str) -> Any:
    if (function, argument) == ("submit", "topics"):
        return ["Ice", Topic(**TOPIC)]
    if (function, argument) == ("recheck", "recheck"):
        return UUID(int=5)
    if (function, argument) == ("create_webhook", "format"):
        return "slack"
    if (function, argument) == ("rows_document", "format"):
        return "xlsx"
    if (function, argument) == ("proposals", "state"):
        return "open"
    return True if (function, argument) == ("events", "text") else SAMPLES[argument]


ALL_CALLS = [(name, call) for name in builders() for call in calls_of(name)]


def operation(call: Call[Any]) -> dict[str, Any]:
    return document()["paths"][call.path][call.method.lower()]  # type: ignore[no-any-return]


def schema_names(value: Any) -> Iterator[str]:
    """The components that a part of the document names itself."""
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"].rpartition("/")[2]
        for entry in value.values():
            yield from schema_names(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from schema_names(entry)


def test_the_client_has_every_operation_of_the_document_or_names_it_as_left_out():
    described = {
        entry["operationId"] for methods in document()["paths"].values() for entry in methods.values()
    }
    has = {operation(call)["operationId"] for _, call in ALL_CALLS}
    assert described - has - set(LEFT_OUT) == set(), (
        "add a function to chiron_api/client/calls.py, or say why not"
    )
    assert has & set(LEFT_OUT) == set()
    assert set(LEFT_OUT) <= described


def test_both_clients_have_a_method_for_each_function_and_no_others():
    for client, closing in ((Chiron, "close"), (AsyncChiron, "aclose")):
        methods = {name for name in dir(client) if not name.startswith("_")}
        assert methods == set(builders()) | {closing}
        assert all(getattr(client, name).__doc__ for name in methods)


@pytest.mark.parametrize(("name", "call"), ALL_CALLS)
def test_a_call_sends_what_the_document_describes(name: str, call: Call[Any]):
    described = operation(call)
    parameters = {entry["name"]: entry for entry in described.get("parameters", [])}
    query = {entry for entry, value in parameters.items() if value["in"] == "query"}
    assert set(call.query) <= query
    # A stream is told where to go on by a header, and a document has all pages.
    assert query - set(call.query) <= ({"after", "limit"} if call.model is bytes else {"after"})
    headers = {entry for entry, value in parameters.items() if value["in"] == "header"}
    assert headers == {entry.lower() for entry in call.headers} - {"accept", "content-type"}
    assert ("{" in call.path) == bool(call.target)
    body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body is None:
        assert call.document is None
        assert (call.content is not None) == ("requestBody" in described)
        return
    schema = body | {"components": document()["components"]}
    Draft202012Validator(schema).validate(json.loads(json.dumps(call.document)))
    for component in schema_names(body):
        properties = document()["components"]["schemas"][component].get("properties", {})
        assert set(call.document or {}) == set(properties) or not properties, name


def test_a_topic_has_every_option_that_the_document_has():
    properties = document()["components"]["schemas"]["TopicRequest"]["properties"]
    assert set(Topic.__slots__) == set(TOPIC) == set(properties)


@pytest.mark.parametrize(("name", "call"), ALL_CALLS)
def test_a_call_reads_the_answer_that_the_document_describes(name: str, call: Call[Any]):
    good = {status: answer for status, answer in operation(call)["responses"].items() if status < "300"}
    models = {
        component
        for answer in good.values()
        for media_type, content in answer.get("content", {}).items()
        if media_type in ("application/json", "application/jsonl")
        for component in schema_names(content)
    }
    if call.model is None:
        assert models == set()
    elif call.model is bytes:
        assert set(good["200"]["content"]) > {"application/json"}
    else:
        assert models == {call.model.__name__}
        hint = get_type_hints(builders()[name])["return"]
        [value] = get_args(hint)
        if get_origin(hint) is Listing:
            assert get_args(call.model.model_fields["items"].annotation) == (value,)
        else:
            field = call.model.model_fields[call.part].annotation if call.part else call.model
            assert value == field


@pytest.mark.parametrize("call", [call for _, call in ALL_CALLS if call.path.endswith("/events")])
def test_a_stream_is_described_as_one(call: Call[Any]):
    assert "text/event-stream" in operation(call)["responses"]["200"]["content"]
    assert "204" in operation(call)["responses"]


@pytest.mark.parametrize(
    "model",
    {
        call.model.__name__: call.model
        for _, call in ALL_CALLS
        if call.model is not None and issubclass(call.model, BaseModel)
    }.values(),
)
def test_the_fields_of_a_model_and_which_are_always_there_are_those_of_the_document(model: type[BaseModel]):
    schema = document()["components"]["schemas"][model.__name__]
    assert set(model.model_fields) == set(schema["properties"])
    required = {name for name, field in model.model_fields.items() if field.is_required()}
    assert required == set(schema.get("required", []))


@pytest.mark.parametrize(
    ("words", "enumeration"), [(JourneyState, states.JourneyState), (JourneyEvent, states.JourneyEvent)]
)
def test_the_words_of_an_answer_are_those_of_the_engine(words: Any, enumeration: type[StrEnum]):
    assert set(get_args(words)) == {word.value for word in enumeration}


def test_only_what_does_nothing_a_second_time_is_sent_again():
    again = {name for name, call in ALL_CALLS if call.is_repeatable and call.method != "GET"}
    assert again == {
        "submit",
        "order_curriculum",
        "start_quiz",
        "answer_question",
        "create_subject",
        "save_goal",
        "search",
        "subscribe",
        "pause_subscription",
        "resume_subscription",
        "start",
        "add_document",
    }
    # As long as it is not asked for a second one:
    assert derived_calls.check("s").is_repeatable
    assert derived_calls.write_report("b").is_repeatable
    assert derived_calls.order_research("s").is_repeatable
    assert derived_calls.start_journey("s", "Ice").is_repeatable


def test_a_goal_that_is_mapped_again_has_a_key_of_its_own_and_else_none():
    first, second = (derived_calls.order_curriculum("s", "Ice", again=True) for _ in range(2))
    assert first.headers["Idempotency-Key"] != second.headers["Idempotency-Key"]
    assert derived_calls.order_curriculum("s", "Ice").headers == {}
    own = derived_calls.order_curriculum("s", "Ice", idempotency_key="k")
    assert own.headers == {"Idempotency-Key": "k"}


def test_a_batch_that_is_submitted_has_a_key_of_its_own():
    first, second = (derived_calls.submit(["Ice"], subject="Sea") for _ in range(2))
    assert first.headers["Idempotency-Key"] != second.headers["Idempotency-Key"]
    assert derived_calls.submit(["Ice"], subject="Sea", idempotency_key="k").headers == {
        "Idempotency-Key": "k"
    }


def test_an_id_cannot_lead_elsewhere():
    call = derived_calls.batch("../facts/1?x=#")
    assert call.location == "/v1/batches/..%2Ffacts%2F1%3Fx%3D%23"


def test_one_thing_has_to_be_named():
    with pytest.raises(TypeError, match="Name one thing"):
        derived_calls.cancel()
    with pytest.raises(TypeError, match="Name one thing"):
        derived_calls.report("batch", subject="subject")
