"""Every face of every act: the same options with the same bounds, the same refusals and the same right."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pydantic.fields import FieldInfo

from chiron_api.acts.act import Act, Target
from chiron_api.acts.discovery import all_acts
from chiron_api.client import AsyncChiron, Chiron
from chiron_api.http.document import OF_ALL, OF_BODIES, OF_KEYS, document
from chiron_api.http.page.forms import schema_of
from chiron_api.mcp_server.act_tools import ActTool, act_tools
from chiron_api.mcp_server.callers import require_scope_for
from chiron_api.rights import find, of_tool
from chiron_workers.access.principals import Principal
from chiron_workers.errors import ScopeExceeded
from chiron_workers.states import AccessScope

NAME_BOUNDS = {("minLength", "1.0"), ("maxLength", "200.0")}
WORDS_OF_FORMS = {"query": "q"}
ROOT = Path(__file__).parents[2]
ACTS = {act.name: act for act in all_acts()}
TOOLS = {tool.name: tool for tool in act_tools()}
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems",
          "maxItems", "pattern", "enum", "const")  # fmt: skip
# What a command does not offer as an option of that name, and why.
COMMAND_LACKS: dict[tuple[str, str], str] = {
    **{
        ("import", name): "`chiron check` has it; an import orders a plain check"
        for name in ("model", "budget_usd", "budget_tokens", "again")
    },
    ("learn.journey", "budget_tokens"): "a journey is bounded by money alone",
    ("learn.quiz", "question_id"): "it is the one that was asked",
    ("learn.quiz", "response"): "it is read from the standard input",
    ("learn.quiz", "mark"): "it is read from the standard input",
    ("learn.quiz", "node_id"): "it is called NODE, and may be a title",
    ("demo.learning", "goal"): "the demo has a goal of its own",
    ("demo.learning", "depth"): "as its goal",
    ("demo.learning", "model"): "it is the one that works offline",
    ("demo.learning", "budget_usd"): "that costs nothing",
    ("demo.learning", "facts_min"): "as its goal",
    ("demo.learning", "again"): "its home is new",
}


def operation_of(act: Act[..., Any]) -> dict[str, Any]:
    method, _, path = act.route.partition(" ")
    described: dict[str, Any] = document()["paths"][path][method.lower()]
    return described


def opened(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema instead of a reference to it."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return opened(document()["components"]["schemas"][name])
    return schema


def bound_as_text(bound: object) -> str:
    """A bound as text; 1 and 1.0 are the same."""
    return str(float(bound)) if isinstance(bound, int | float) else str(bound)


def bounds_of(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> set[tuple[str, str]]:
    """The bounds of a value and of what is in it; a choice of one value is that value."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        schema = (root or {}).get("$defs", {}).get(name) or document()["components"]["schemas"][name]
    bounds = {(name, bound_as_text(schema[name])) for name in BOUNDS if name in schema}
    for inner in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *filter(None, [schema.get("items")])):
        bounds |= bounds_of(inner, root)
    for name, member in schema.get("properties", {}).items():
        bounds |= {(f"{name}.{bound}", value) for bound, value in bounds_of(member, root)}
    return bounds


def http_options(act: Act[..., Any]) -> dict[str, Mapping[str, Any]]:
    """The schema of each option over HTTP: of the body or the query string."""
    described = operation_of(act)
    options = {
        entry["name"]: entry["schema"] for entry in described.get("parameters", []) if entry["in"] == "query"
    }
    body = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return options | dict(opened(body)["properties"] if body and opened(body).get("properties") else {})


def fields_of(act: Act[..., Any]) -> set[str]:
    return set(act.input_model.model_fields if act.input_model else ())


def parameter_of(name: str, field: FieldInfo) -> str:
    """What a field is called in the client: what it names, where that is something with an id."""
    return next((rule.name for rule in field.metadata if isinstance(rule, Target)), name)


def is_list(act: Act[..., Any]) -> bool:
    answer = act.arguments.answer
    return answer is not None and {"items", "next"} <= answer.model_fields.keys()


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_the_document_has_the_options_the_right_and_the_refusals_of_an_act(act: Act[..., Any]):
    described = operation_of(act)
    assert described["operationId"] == act.name
    fields = act.input_model.model_fields if act.input_model else {}
    assert set(http_options(act)) == {field.alias or name for name, field in fields.items()}
    assert described["x-required-scope"] == act.operation.scope
    assert described["x-changes"] == act.operation.changes
    assert described["x-costs-money"] == act.operation.costs_money
    headers = {entry["name"] for entry in described.get("parameters", []) if entry["in"] == "header"}
    assert headers == ({"idempotency-key"} if act.arguments.takes_key else set())
    shared = {status.value for status in (*OF_ALL, *OF_KEYS, *OF_BODIES)} | {422}
    refusals = {int(status) for status in described["responses"] if status >= "400"}
    assert refusals - shared == {status.value for status in act.problems} - shared
    good = {int(status) for status in described["responses"] if status < "400"}
    assert good == {act.status.value} | ({act.existing_status.value} if act.arguments.may_exist else set())


def options_of(act: Act[..., Any]) -> dict[str, str]:
    """The options of an act in the client, by the fields of its input."""
    client_options = {"after", "limit"} if is_list(act) else set()
    client_options |= {"format"} if act.arguments.is_document else set()
    fields = act.input_model.model_fields if act.input_model else {}
    return {name: parameter_of(name, field) for name, field in fields.items() if name not in client_options}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_both_clients_have_the_options_of_an_act(act: Act[..., Any]):
    build = getattr(Chiron, act.client)
    parameters = inspect.signature(build).parameters
    targets = {
        other.target.name for other in ACTS.values() if other.client == act.client and other.arguments.path
    }
    keys = {"idempotency_key"} if act.arguments.takes_key else set()
    fields = act.input_model.model_fields if act.input_model else {}
    names = options_of(act)
    # One method does several acts: a resume of a batch has budgets for its runs, too.
    acts = [other for other in ACTS.values() if other.client == act.client]
    assert set(parameters) - targets - keys == {name for each in acts for name in options_of(each).values()}
    for client in (Chiron, AsyncChiron):
        assert inspect.signature(getattr(client, act.client)) == inspect.signature(build)
    for field_name, name in names.items():
        if name in parameters:
            field = fields[field_name]
            is_required = parameters[name].default is inspect.Parameter.empty
            assert is_required == field.is_required(), name
            default = field.get_default(call_default_factory=True)
            default = default.value if isinstance(default, Enum) else default
            assert is_required or parameters[name].default in (None, default), name


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_has_the_options_of_its_act_with_the_same_bounds(tool: ActTool):
    act = tool.act
    properties = dict(tool.input_schema["properties"])
    assert act.tool
    if act.arguments.path:
        bounds = bounds_of(properties.pop(act.tool.path_argument))
        assert bounds == (set() if act.arguments.path.annotation is UUID else NAME_BOUNDS)
    if act.arguments.takes_key:
        properties.pop("idempotency_key")
    names = {name: act.tool.names.get(name, name) for name in fields_of(act)}
    assert set(properties) == set(names.values())
    for name, schema in http_options(act).items():
        assert bounds_of(properties[names[name]], tool.input_schema) == bounds_of(schema), name
    assert of_tool(tool.name) == act.operation


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_every_face_of_an_act_needs_the_same_right(act: Act[..., Any]):
    for face in act.operation.faces:
        method, _, path = face.partition(" ")
        if method == "mcp":
            assert of_tool(path) == act.operation
        elif path.startswith("/"):
            match = find(method, path.replace("{id}", "7").replace("{name}", "ada"))
            assert match is not None
            assert match[0] == act.operation
    if act.tool and act.operation.scope is AccessScope.SUBMIT:
        reader = Principal("ada", AccessScope.READ)
        with pytest.raises(ScopeExceeded):
            require_scope_for(act.tool.name, reader)


def commands_of_acts() -> Iterator[tuple[str, Act[..., Any], set[str]]]:
    """Each command module that does an act, the act, and the names of all its options."""
    for file in sorted((ROOT / "chiron_api/cli").rglob("*.py")):
        nodes = list(ast.walk(ast.parse(file.read_text())))
        names = {
            alias.name
            for node in nodes
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chiron_api.acts.")
            for alias in node.names
        }
        names |= {  # of a module that is imported as `acts`
            node.attr
            for node in nodes
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "acts"
        }
        acts = [ACTS[name] for name in sorted(names & ACTS.keys())]
        if not acts:
            continue
        module = importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
        options = {
            parameter
            for callback in vars(module).values()
            if inspect.isfunction(callback) and callback.__module__ == module.__name__
            for parameter in inspect.signature(callback).parameters
        }
        for act in acts:
            yield module.__name__.removeprefix("chiron_api.cli."), act, options


COMMAND_CASES = [pytest.param(*case, id=f"{case[0]}-{case[1].name}") for case in commands_of_acts()]


@pytest.mark.parametrize(("command", "act", "options"), COMMAND_CASES)
def test_a_command_has_the_options_of_the_acts_that_it_does(
    command: str, act: Act[..., Any], options: set[str]
):
    pages = {"after"} if is_list(act) else set()  # a command goes through the pages
    lacks = {name for name in fields_of(act) - options - pages if (command, name) not in COMMAND_LACKS}
    assert lacks == set(), "an option, or a line in COMMAND_LACKS that says why not"


def test_what_a_command_lacks_is_an_option_of_its_act():
    fields = {(command, name) for command, act, _ in commands_of_acts() for name in fields_of(act)}
    assert COMMAND_LACKS.keys() <= fields


def test_no_form_of_an_act_has_a_bound_of_its_own():
    for view in (ROOT / "chiron_api/http/page").rglob("view.py"):
        if "Form(" in view.read_text():
            for template in view.parent.glob("*.html"):
                text = template.read_text()
                assert "maxlength=" not in text or 'maxlength="{{' in text, template


def test_a_bound_that_a_form_writes_out_is_one_of_an_act():
    bounds = {("key", "500")}  # which no act takes: the page signs in with it
    for act in ACTS.values():
        for name in act.input_model.model_fields if act.input_model else ():
            bounds.add(
                (WORDS_OF_FORMS.get(name, name), str(schema_of(act.input_model, name).get("maxLength")))
            )
    for template in (ROOT / "chiron_api/http/page").rglob("*.html"):
        for tag in re.findall(r"<(?:input|textarea)[^>]*>", template.read_text()):
            if literal := re.search(r'maxlength="(\d+)"', tag):
                [name] = re.findall(r' name="(\w+)"', tag)
                assert (name, literal[1]) in bounds, template
