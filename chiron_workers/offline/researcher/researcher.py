"""The offline researcher: the next reply to a conversation, from nothing but the request."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from chiron_workers.offline.api.reply import Reply, cut
from chiron_workers.offline.api.request import MessagesRequest
from chiron_workers.offline.researcher.conversation import Conversation, conversation_key, read

DEFAULT_ROLE = "research"
# How the prompt of a role begins.
_ROLE = re.compile(r"\AYou are the ([a-z]\w*) agent of Chiron\b")


@dataclass(frozen=True, slots=True)
class Turn:
    """What a reply is made of: the conversation, its key and how many replies it has, and the names of the offered tools.

    A reply makes `calls_max` tool calls at most; None: as many as it likes.
    """

    conversation: Conversation
    key: str
    number: int
    tools: frozenset[str]
    calls_max: int | None


def next_reply(request: MessagesRequest) -> Reply:
    """The reply of the role that the system prompt names; the same request always gets the same reply."""
    tools = [] if request.tool_choice.get("type") == "none" else request.tools
    messages = [(message.role, message.content) for message in request.messages]
    conversation = read(request.system, messages)
    turn = Turn(
        conversation,
        key=conversation_key(request.system, request.messages[0].content),
        number=request.turn,
        tools=frozenset(str(tool["name"]) for tool in tools),
        calls_max=1 if request.tool_choice.get("disable_parallel_tool_use") else None,
    )
    match = _ROLE.match(conversation.system)
    return cut(_player_of(match[1] if match else DEFAULT_ROLE)(turn), request.max_tokens)


@cache
def _player_of(role: str) -> Callable[[Turn], Reply]:
    """How a role is played: the function `play` of the module `offline` in its folder, or as research where it has none."""
    name = "chiron_workers.roles.{}.offline"
    is_known = find_spec(f"chiron_workers.roles.{role}") and find_spec(name.format(role))
    player: Callable[[Turn], Reply] = import_module(name.format(role if is_known else DEFAULT_ROLE)).play
    return player
