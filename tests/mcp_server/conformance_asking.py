"""The tools of the conformance suite that answer with a question (SEP-2322)."""

from typing import Any

import mcp_types as types
from fastmcp.server.dependencies import get_context

from chiron_workers.toolkit import tool


def question(message: str, field: str) -> types.ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sample(words: str) -> types.CreateMessageRequest:
    asked = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=words))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[asked], max_tokens=50)
    )


def asking(state: str | None = None, **requests: types.InputRequest) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def answers() -> dict[str, Any]:
    return get_context().input_responses or {}


def given(key: str, field: str) -> str | None:
    """What somebody wrote into the one field of a question, if it was answered."""
    answer = answers().get(key)
    content = answer.content if isinstance(answer, types.ElicitResult) else None
    return str(content[field]) if content and field in content else None


@tool
async def test_input_required_result_elicitation() -> Any:
    """Ask for a name."""
    name = given("user_name", "name")
    return f"Hello, {name}!" if name else asking(user_name=question("What is your name?", "name"))


@tool
async def test_streaming_elicitation() -> Any:
    """Ask for a name, too."""
    name = given("user_name", "name")
    return f"Hello, {name}!" if name else asking(user_name=question("What is your name?", "name"))


@tool
async def test_input_required_result_sampling() -> Any:
    """Ask the client's model for the capital of France."""
    if "capital" in answers():
        return f"The model says: {answers()['capital'].content.text}"
    return asking(capital=sample("What is the capital of France?"))


@tool
async def test_input_required_result_list_roots() -> Any:
    """Ask for the client's roots."""
    if "client_roots" in answers():
        return f"{len(answers()['client_roots'].roots)} roots"
    return asking(client_roots=types.ListRootsRequest())


@tool
async def test_input_required_result_request_state() -> Any:
    """Ask, with a state to come back."""
    if get_context().request_state == "asked" and "confirm" in answers():
        return "state-ok"
    return asking("asked", confirm=question("Please confirm", "ok"))


@tool
async def test_input_required_result_tampered_state() -> Any:
    """Ask, with a state that nobody may change."""
    if get_context().request_state == "asked" and "confirm" in answers():
        return "state-ok"
    return asking("asked", confirm=question("Please confirm", "ok"))


@tool
async def test_input_required_result_multiple_inputs() -> Any:
    """Ask for several things at once."""
    if {"user_name", "greeting", "client_roots"} <= answers().keys():
        return "All three are answered."
    return asking(
        "three",
        user_name=question("What is your name?", "name"),
        greeting=sample("Generate a greeting"),
        client_roots=types.ListRootsRequest(),
    )


@tool
async def test_input_required_result_multi_round() -> Any:
    """Ask twice, the second time knowing the first answer."""
    state = get_context().request_state or ""
    if state.startswith("name:") and (color := given("step2", "color")):
        return f"{state.removeprefix('name:')} likes {color}."
    if state == "begun" and (name := given("step1", "name")):
        return asking(f"name:{name}", step2=question("Step 2: What is your favorite color?", "color"))
    return asking("begun", step1=question("Step 1: What is your name?", "name"))


@tool
async def test_input_required_result_capabilities() -> Any:
    """Ask only what the client can answer."""
    can = get_context().session.client_capabilities
    requests: dict[str, types.InputRequest] = {}
    if can and can.elicitation:
        requests["user_name"] = question("What is your name?", "name")
    if can and can.sampling:
        requests["greeting"] = sample("Generate a greeting")
    return asking(**requests) if requests and not answers() else "Nothing to ask."
