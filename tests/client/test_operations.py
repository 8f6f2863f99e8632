"""What the client can ask of the API, compared with the OpenAPI document."""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints
from uuid import UUID, uuid4

import pytest
from jsonschema import Draft202012Validator

from chiron_api.acts.discovery import all_acts
from chiron_api.answers.journeys import JourneyEvent, JourneyState
from chiron_api.client import AsyncChiron, Chiron, Column, Topic
from chiron_api.client.call import Call, Listing, Wait
from chiron_api.http.document import document
from chiron_workers import states
from chiron_workers.webhooks.webhooks import KINDS

LEFT_OUT = {
    "show_openapi": "who wants the document can fetch it",
    "show_metrics": "Prometheus reads it",
}
TARGETS = ("batch", "run", "subject")
SAMPLES: dict[Any, Any] = {
    str: "Ice",
    int: 3,
    float: 0.5,
    bool: True,
    bytes: b"Ice",
    Decimal: Decimal("1.5"),
    UUID: UUID(int=7),
    datetime: datetime(2026, 10, 1, tzinfo=UTC),
}


def sample(hint: Any) -> Any:
    """A value of a type: of a choice the first, with all its own options."""
    if hint in SAMPLES:
        return SAMPLES[hint]
    if get_origin(hint) is Literal:
        return get_args(hint)[-1]
    if get_origin(hint) is Sequence:
        [entry] = get_args(hint)
        return [sample(part) for part in (get_args(entry) if isinstance(entry, UnionType) else [entry])]
    if get_origin(hint) is dict:
        return {"subject": None}
    if is_dataclass(hint):
        return hint(**{name: sample(field) for name, field in get_type_hints(hint).items()})
    return sample(get_args(hint)[0])


def builders() -> dict[str, Callable[..., Any]]:
    """The functions that make the calls, by name."""
    return {
        name: getattr(Chiron, name) for name in dir(Chiron) if not name.startswith("_") and name != "close"
    }


def calls_of(name: str) -> Iterator[Call[Any]]:
    """What a method sends with all its arguments, once for each thing that it can be about."""
    parameters = inspect.signature(builders()[name]).parameters
    arguments = {name: sample(parameter.annotation) for name, parameter in parameters.items()}
    arguments.pop("after", None)  # a header that the document has as an option of the query
    targets = [target for target in TARGETS if target in arguments]
    if name == "runs" or targets[:2] != ["batch", "run"]:
        yield request(builders()[name](**arguments))
        return
    for target in targets:
        others = {name: value for name, value in arguments.items() if name not in targets}
        yield request(builders()[name](**others, **{target: arguments[target]}))


def request(built: Call[Any] | Listing[Any] | Wait[Any]) -> Call[Any]:
    if isinstance(built, Listing):
        return built.page(uuid4())
    return built.call if isinstance(built, Wait) else built


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
        "add a function to chiron_api/client/methods.py, or say why not"
    )
    assert has & set(LEFT_OUT) == set()
    assert set(LEFT_OUT) <= described


def test_both_clients_have_a_method_for_each_function_and_no_others():
    for client, closing in ((Chiron, "close"), (AsyncChiron, "aclose")):
        methods = {name for name in dir(client) if not name.startswith("_")}
        assert methods == set(builders()) | {closing}
        assert all(getattr(client, name).__doc__ for name in methods)


# The method takes a batch or a run, and the server refuses for a run what only a batch has.
OF_BATCHES_ALONE = {"run_budget_usd", "run_budget_tokens"}


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
    if call.document is None:
        assert not described["requestBody"].get("required")
        assert [document()["components"]["schemas"][name]["properties"] for name in schema_names(body)] == [
            {}
        ]
        return
    schema = body | {"components": document()["components"]}
    is_of_run = call.path.startswith("/v1/runs/")
    sent = {key: value for key, value in call.document.items() if not (is_of_run and key in OF_BATCHES_ALONE)}
    Draft202012Validator(schema).validate(json.loads(json.dumps(sent)))
    for component in schema_names(body):
        properties = document()["components"]["schemas"][component].get("properties", {})
        assert set(sent) == set(properties) or not properties, name


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
        value = get_args(hint)[0] if get_origin(hint) in (Call, Wait) else hint
        if get_origin(value) is Iterable:
            assert get_args(call.model.model_fields["items"].annotation) == get_args(value)
        else:
            assert value == (call.model.model_fields[call.part].annotation if call.part else call.model)


@pytest.mark.parametrize("call", [call for _, call in ALL_CALLS if call.path.endswith("/events")])
def test_a_stream_is_described_as_one(call: Call[Any]):
    assert "text/event-stream" in operation(call)["responses"]["200"]["content"]
    assert "204" in operation(call)["responses"]


@pytest.mark.parametrize(
    ("words", "enumeration"), [(JourneyState, states.JourneyState), (JourneyEvent, states.JourneyEvent)]
)
def test_the_words_of_an_answer_are_those_of_the_engine(words: Any, enumeration: type[StrEnum]):
    assert set(get_args(words)) == {word.value for word in enumeration}


def test_only_what_does_nothing_a_second_time_is_sent_again():
    again = {name for name, call in ALL_CALLS if call.is_repeatable and call.method != "GET"}
    # One with an option `again` is, unless it is used; where it takes a key besides, its key is made only then.
    acts = {
        act.client
        for act in all_acts()
        if act.arguments.takes_key
        or (act.repeatable and not (act.input_model and "again" in act.input_model.model_fields))
    }
    changes = {act.client for act in all_acts() if not act.route.startswith("GET ")}
    assert again == acts & changes | {"add_document"}
    # As long as it is not asked for a second one:
    assert Chiron.check("s").is_repeatable
    assert Chiron.write_report("b").is_repeatable
    assert Chiron.order_research("s").is_repeatable
    assert Chiron.start_journey("s", "Ice").is_repeatable


def test_an_option_that_is_not_given_is_left_to_the_server():
    assert Chiron.search("ice").body == {"query": "ice"}
    assert Chiron.delete("b").query == {}
    assert Chiron.submit(["Ice", Topic("Snow")], subject="Sea", columns=[Column("year")]).document == {
        "topics": ["Ice", {"topic": "Snow"}],
        "subject": "Sea",
        "columns": [{"name": "year"}],
    }
    assert Chiron.delete("b", with_facts=False).location == "/v1/batches/b?with_facts=false"


def test_an_option_is_named_and_a_wrong_one_is_refused_with_the_method():
    for call in (
        lambda: Chiron.keys(True),
        lambda: Chiron.decide_proposal("p", True, "good"),
        lambda: Chiron.proposals("s", "open"),
    ):
        with pytest.raises(TypeError, match="too many positional arguments"):
            call()
    with pytest.raises(TypeError, match=r"submit\(\): missing a required argument: 'subject'"):
        Chiron.submit(["Ice"])  # type: ignore[call-arg]


def test_only_kinds_that_can_be_chosen_are_kinds_of_a_webhook():
    hint = inspect.signature(Chiron.create_webhook).parameters["kinds"].annotation
    [words] = get_args(get_args(hint)[0])
    assert set(get_args(words)) == set(KINDS)


def test_a_goal_that_is_mapped_again_has_a_key_of_its_own_and_else_none():
    first, second = (Chiron.order_curriculum("s", "Ice", again=True) for _ in range(2))
    assert first.headers["Idempotency-Key"] != second.headers["Idempotency-Key"]
    assert Chiron.order_curriculum("s", "Ice").headers == {}
    own = Chiron.order_curriculum("s", "Ice", idempotency_key="k")
    assert own.headers == {"Idempotency-Key": "k"}


def test_a_batch_that_is_submitted_has_a_key_of_its_own():
    first, second = (Chiron.submit(["Ice"], subject="Sea") for _ in range(2))
    assert first.headers["Idempotency-Key"] != second.headers["Idempotency-Key"]
    assert Chiron.submit(["Ice"], subject="Sea", idempotency_key="k").headers == {"Idempotency-Key": "k"}


def test_topics_and_columns_are_read_once_from_whatever_goes_through_them():
    titles = {"Ice": Column("year"), "Sea": Column("area")}
    call = Chiron.submit((Topic(title) for title in titles), subject="Ice", columns=titles.values())  # type: ignore[arg-type]  # as scripts without types do
    body = {
        "topics": [{"topic": "Ice"}, {"topic": "Sea"}],
        "subject": "Ice",
        "columns": [{"name": "year"}, {"name": "area"}],
    }
    assert [call.document, call.document] == [body, body]  # sent again where the first answer is lost


def test_an_id_cannot_lead_elsewhere():
    call = Chiron.batch("../facts/1?x=#")
    assert call.location == "/v1/batches/..%2Ffacts%2F1%3Fx%3D%23"


def test_one_thing_has_to_be_named():
    with pytest.raises(TypeError, match="Name one thing"):
        Chiron.cancel()
    with pytest.raises(TypeError, match="Name one thing"):
        Chiron.report("batch", subject="subject")
