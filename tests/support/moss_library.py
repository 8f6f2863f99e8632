"""A made-up library behind the tools of research, and a loop that plays a conversation over the real SDK."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from anthropic import AsyncAnthropic
from anthropic.types import Message, MessageParam

from chiron_workers.offline import OfflineServer, serve
from chiron_workers.toolkit.function_tool import tool_of
from chiron_workers.tools.fact_search import vector_search
from chiron_workers.tools.knowledge import store_knowledge
from chiron_workers.tools.web import web_fetch, web_search

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

RING_BELL = {
    "name": "ring_bell",
    "description": "Ring a bell.",
    "input_schema": {
        "type": "object",
        "properties": {"times": {"type": "integer"}},
        "required": ["times"],
    },
}
TOOLS: list[dict[str, Any]] = [
    *(tool_of(tool).definition() for tool in (store_knowledge, web_search, web_fetch, vector_search)),
    RING_BELL,
]

SYSTEM = "You are a researcher.\nSubject: Caves of Tarvin (subject_id: caves-of-tarvin)\nStore what you find."
TOPIC = "Research topic: How long does glimmer moss glow?"


@dataclass
class Library:
    """Executes the tools of research; `broken` maps a tool to errors it answers first, one for each call."""

    documents: dict[str, tuple[str, str]] = field(default_factory=lambda: dict(DOCUMENTS))
    broken: dict[str, list[str]] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)
    window_chars: int = 20_000
    receipts: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # of statements that were there, by their words

    def run(self, name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        """(result, is_error) of a call."""
        self.calls.append((name, arguments))
        if self.broken.get(name):
            return self.broken[name].pop(0), True
        match name:
            case "web_search":
                return json.dumps(self._hits(arguments["query"], arguments.get("max_results", 5))), False
            case "web_fetch":
                return json.dumps(self._page(arguments["url"], arguments.get("offset", 0))), False
            case "store_knowledge":
                self.facts.append(arguments)
                return json.dumps(self.receipts.get(arguments["content"], {"status": "stored"})), False
            case "vector_search":
                return json.dumps(self._hits(arguments["query"], arguments.get("top_k", 5))), False
        return f"no such tool: {name}", True

    def _page(self, url: str, offset: int) -> dict[str, Any]:
        title, text = self.documents[url]
        end = offset + self.window_chars
        next_offset = end if end < len(text) else None
        return {"url": url, "title": title, "text": text[offset:end], "next_offset": next_offset}

    def _hits(self, query: str, limit: int) -> list[dict[str, Any]]:
        words = {word for word in query.lower().split() if len(word) > 3}
        return [
            {"url": url, "title": title, "snippet": text[:120], "score": 1.0, "source_type": "own document"}
            for url, (title, text) in self.documents.items()
            if words & set(text.lower().replace(".", " ").split())
        ][:limit]


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
