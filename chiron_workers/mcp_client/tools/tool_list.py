"""What of a server's tools is offered to agents, and what is left out."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiron_workers.mcp_client.config.configuration import ServerConfig
from chiron_workers.mcp_client.tools.schemas import UnusableSchema
from chiron_workers.mcp_client.tools.tool import RemoteTool, ToolCall

if TYPE_CHECKING:
    from chiron_workers.mcp_client.transport.connection import Listing

DEFINITIONS_BYTES_MAX = 200_000  # they are in every request of a run
LABEL_CHARS = 100

Rejection = tuple[str, str]  # a tool's name, and why it is not offered


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools of a server that agents are offered, and those that are left out."""

    tools: tuple[RemoteTool, ...] = ()
    rejections: tuple[Rejection, ...] = ()

    def is_same_as(self, previous: "ToolList") -> bool:
        """Whether a model would see no difference."""
        return len(self.tools) == len(previous.tools) and all(
            tool.is_same_as(old) for tool, old in zip(self.tools, previous.tools, strict=True)
        )


def build_tool_list(listing: "Listing", config: ServerConfig, call: ToolCall) -> ToolList:
    """The tools of a server's list that are allowed and can be used. What lies about itself is rejected."""
    tools: dict[str, RemoteTool] = {}
    rejections = [(name[:LABEL_CHARS], reason) for name, reason in listing.rejections]
    size = 0
    for description in listing.tools:
        if config.allowed_tools is not None and description.name not in config.allowed_tools:
            continue
        label = description.name[:LABEL_CHARS]
        try:
            tool = RemoteTool.from_description(description, config, call)
        except UnusableSchema as error:
            rejections.append((label, str(error)))
            continue
        size += len(json.dumps(tool.definition()))
        if not description.name:
            rejections.append((label, "it has no name"))
        elif tool.name in tools:
            rejections.append((label, "the list has a tool of this name already"))
        elif size > DEFINITIONS_BYTES_MAX:
            reason = f"there are {DEFINITIONS_BYTES_MAX:,} bytes of others; choose with allowedTools"
            rejections.append((label, reason))
        else:
            tools[tool.name] = tool
    names = {description.name for description in listing.tools} | {name for name, _ in listing.rejections}
    for name in sorted((config.allowed_tools or frozenset()) - names):
        rejections.append((name[:LABEL_CHARS], "allowedTools names it, and the server does not have it"))
    return ToolList(tuple(tools.values()), tuple(rejections))
