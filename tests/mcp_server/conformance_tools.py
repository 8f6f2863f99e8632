"""The tools that the conformance suite calls, each as its scenario describes it."""

import asyncio
import base64
from typing import Any

import mcp_types as types
from fastmcp.server.context import Context
from fastmcp.server.dependencies import get_context
from mcp.shared.exceptions import MCPError

from chiron_workers.errors import ToolError
from chiron_workers.toolkit import tool

PNG = base64.b64encode(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
    )
).decode()
WAV = base64.b64encode(
    b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x44\xac\0\0\x88\x58\1\0\2\0\x10\0data\2\0\0\0\0\0"
).decode()
STEP_S = 0.05

CHOICES = ["option1", "option2", "option3"]
TITLED = [
    {"const": "value1", "title": "First"},
    {"const": "value2", "title": "Second"},
    {"const": "value3", "title": "Third"},
]


def embedded(uri: str, text: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def form(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": []}


async def elicited(message: str, schema: dict[str, Any]) -> str:
    context = get_context()
    answer = await context.session.elicit(message, schema, related_request_id=context.request_id)
    return f"Elicitation completed: action={answer.action}, content={answer.content}"


@tool
async def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@tool
async def test_image_content() -> Any:
    """Return an image."""
    return image()


@tool
async def test_audio_content() -> Any:
    """Return a sound."""
    return types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")


@tool
async def test_embedded_resource() -> Any:
    """Return a resource."""
    return embedded("test://embedded-resource", "This is an embedded resource content.")


@tool
async def test_multiple_content_types() -> Any:
    """Return a text, an image and a resource."""
    text = types.TextContent(type="text", text="Multiple content types test:")
    json = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    return [text, image(), json]


@tool
async def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


async def say_three_things(context: Context) -> str:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.info(words)
        await asyncio.sleep(STEP_S)
    return "Said three things."


@tool
async def test_tool_with_logging() -> str:
    """Send log messages on the way."""
    return await say_three_things(get_context())


@tool
async def test_logging_tool() -> str:
    """Send log messages to whoever asked for them."""
    return await say_three_things(get_context())


@tool
async def test_tool_with_progress() -> str:
    """Report progress on the way."""
    for done in (0, 50, 100):
        await get_context().report_progress(done, 100)
        await asyncio.sleep(STEP_S)
    return "Reported progress."


@tool
async def test_sampling(prompt: str) -> str:
    """Ask the client's model.

    Args:
        prompt: What to ask.
    """
    context = get_context()
    asked = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))
    answer = await context.session.create_message(
        [asked], max_tokens=100, related_request_id=context.request_id
    )
    return f"LLM response: {answer.content.text}"


@tool
async def test_elicitation(message: str) -> str:
    """Ask the user.

    Args:
        message: What to ask.
    """
    fields = form(username={"type": "string"}, email={"type": "string"})
    return await elicited(message, fields | {"required": ["username", "email"]})


@tool
async def test_elicitation_sep1034_defaults() -> str:
    """Ask the user with a default for each kind of field."""
    fields = form(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return await elicited("Look through these fields", fields)


@tool
async def test_elicitation_sep1330_enums() -> str:
    """Ask the user with each form of a choice."""
    old = {"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]}
    fields = form(
        untitledSingle={"type": "string", "enum": CHOICES},
        titledSingle={"type": "string", "oneOf": TITLED},
        legacyEnum=old,
        untitledMulti={"type": "array", "items": {"type": "string", "enum": CHOICES}},
        titledMulti={"type": "array", "items": {"anyOf": TITLED}},
    )
    return await elicited("Choose", fields)


@tool
async def test_missing_capability() -> str:
    """Need a capability of the client."""
    needed = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not get_context().session.check_client_capability(needed):
        data = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "Sampling is needed.", data)
    return "The client can sample."
