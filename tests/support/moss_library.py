"""A made-up library with tools of unusual names, and a loop that plays a conversation over the real SDK."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from anthropic import AsyncAnthropic
from anthropic.types import Message, MessageParam

from chiron_workers.offline import OfflineServer, serve

DOCUMENTS = {
    "shelf:7/glimmer-moss": (
        "Glimmer moss",
        """Glimmer moss
============

Glimmer moss is a pale plant that grows on the north walls of the Tarvin caves. It was first
described by Dr. Orla Venn in 1871, who found it near St. Brannoc's well. Glimmer moss
glows for 14 hours after it has been wetted with sea water.

.. code-block:: text

   moss = Glimmer(hours=14). The moss glows in code and not in prose, really.

* Shepherds of the valley dry glimmer moss and burn it, e.g. to keep moths away.
* See also the ferns.

All rights reserved. Subscribe to our newsletter about glimmer moss and other plants.
""",
    ),
    "shelf:9/cave-lights": (
        "Lights of the caves",
        """# Lights of the caves

Glimmer moss glows for 14 hours after it has been wetted with sea water. Blind crickets gather where the moss is bright.

```
Glimmer moss is only a variable in this block of code, and nobody should quote it.
```

## Trade

Merchants of Tarvin sold glimmer moss by the ounce until the road was closed.
""",
    ),
    "shelf:12/doubts": (
        "Doubts about moss",
        "Glimmer moss glows for 9 hours after it has been wetted with sea water. Nobody has repeated the count since.",
    ),
    "shelf:30/bridges": (
        "Bridges",
        "The old bridge of Tarvin has seven arches and a toll house on the eastern bank.",
    ),
}

TOOLS: list[dict[str, Any]] = [
    {
        "name": "jot",
        "description": "Keep one statement for good, with the document it was drawn from.",
        "input_schema": {
            "type": "object",
            "properties": {
                "assertion": {"type": "string", "description": "The statement, one sentence."},
                "realm": {"type": "string", "description": "Identifier of the subject it belongs to."},
                "drawn_from": {"type": "string", "description": "Address of the document."},
                "word_for_word": {"type": "string", "description": "The passage exactly as it stands there."},
                "standing": {
                    "type": "integer",
                    "description": "Quality of the document, 0 to 100.",
                    "maximum": 100,
                },
                "sureness": {"type": "number", "description": "How certain it is, 0 to 1."},
                "filed_under": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Path of headings.",
                },
            },
            "required": ["assertion", "realm", "drawn_from", "standing", "sureness", "filed_under"],
        },
    },
    {
        "name": "peruse",
        "description": "Look through the archive for documents.",
        "input_schema": {
            "type": "object",
            "properties": {
                "needle": {
                    "type": "string",
                    "description": "Words to look for, as a question or as keywords.",
                },
                "realm": {"type": "string", "description": "Identifier of the subject."},
                "cap": {"type": "integer", "description": "At most so many hits.", "default": 5},
            },
            "required": ["needle", "realm"],
        },
    },
    {
        "name": "unroll",
        "description": "Bring the whole text of a document.",
        "input_schema": {
            "type": "object",
            "properties": {
                "whereabouts": {
                    "type": "string",
                    "description": "Address of the document, as the archive gave it.",
                }
            },
            "required": ["whereabouts"],
        },
    },
    {
        "name": "recollect",
        "description": "Find facts that are already remembered, nearest in meaning to a question.",
        "input_schema": {
            "type": "object",
            "properties": {"question": {"type": "string"}, "realm": {"type": "string"}},
            "required": ["question", "realm"],
        },
    },
    {
        "name": "ring_bell",
        "description": "Ring a bell.",
        "input_schema": {
            "type": "object",
            "properties": {"times": {"type": "integer"}},
            "required": ["times"],
        },
    },
]

SYSTEM = "You are a researcher.\nSubject: Caves of Tarvin (realm_id: caves-of-tarvin)\nStore what you find."
TOPIC = "Research topic: How long does glimmer moss glow?"


@dataclass
class Library:
    """Executes the made-up tools; `broken` maps a tool to errors it answers first, one for each call."""

    documents: dict[str, tuple[str, str]] = field(default_factory=lambda: dict(DOCUMENTS))
    broken: dict[str, list[str]] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    kept: list[dict[str, Any]] = field(default_factory=list)

    def run(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """(result, is_error) of a call."""
        self.calls.append((name, arguments))
        if self.broken.get(name):
            return self.broken[name].pop(0), True
        match name:
            case "peruse":
                return json.dumps({"hits": self._hits(arguments["needle"], arguments.get("cap", 5))}), False
            case "unroll":
                title, text = self.documents[arguments["whereabouts"]]
                return json.dumps(
                    {"whereabouts": arguments["whereabouts"], "caption": title, "scroll": text}
                ), False
            case "jot":
                self.kept.append(arguments)
                return json.dumps({"kept": True}), False
        return f"no such tool: {name}", True

    def _hits(self, needle: str, cap: int) -> list[dict[str, str]]:
        asked = {word for word in needle.lower().split() if len(word) > 3}
        return [
            {"whereabouts": address, "caption": title, "gist": text[:120]}
            for address, (title, text) in self.documents.items()
            if asked & set(text.lower().replace(".", " ").split())
        ][:cap]


@dataclass
class Conversation:
    """Plays a conversation to its end over the SDK."""

    client: AsyncAnthropic
    library: Library
    tools: list[dict[str, Any]] = field(default_factory=lambda: TOOLS)
    messages: list[MessageParam] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    replies: list[Message] = field(default_factory=list)

    async def ask(self, question: str) -> str:
        """The final answer to a question."""
        self.messages.append({"role": "user", "content": question})
        while True:
            reply = await self.reply()
            self.replies.append(reply)
            self.messages.append({"role": "assistant", "content": reply.model_dump()["content"]})
            if reply.stop_reason != "tool_use":
                return "".join(block.text for block in reply.content if block.type == "text")
            self.messages.append(
                {
                    "role": "user",
                    "content": [self._result(block) for block in reply.content if block.type == "tool_use"],
                }
            )

    async def reply(self) -> Message:
        """One reply to the messages so far."""
        async with self.client.messages.stream(
            **{
                "model": "offline",
                "max_tokens": 8_000,
                "system": SYSTEM,
                "tools": self.tools,
                "messages": self.messages,
                **self.options,
            }
        ) as stream:
            return await stream.get_final_message()

    def _result(self, block: Any) -> dict[str, Any]:
        content, is_error = self.library.run(block.name, block.input)
        return {"type": "tool_result", "tool_use_id": block.id, "content": content, "is_error": is_error}


@asynccontextmanager
async def client_of(server: OfflineServer, **options: Any) -> AsyncIterator[AsyncAnthropic]:
    async with (
        serve(server) as url,
        AsyncAnthropic(base_url=url, api_key="x", max_retries=0, **options) as client,
    ):
        yield client
