"""What of a server's tools is offered to agents, and what is left out."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chiron_workers.mcp_client.tools.schemas import UnusableSchema
from chiron_workers.mcp_client.tools.tool import RemoteTool
from chiron_workers.mcp_client.transport.connection import Listing

if TYPE_CHECKING:
    from chiron_workers.mcp_client.server import Server

OFFER_BYTES_MAX = 200_000  # of definitions; they are in every request of a run
LABEL_CHARS = 100


@dataclass(frozen=True, slots=True)
class Offer:
    """The tools of a server that agents are offered, and (name, reason) of those that are left out."""

    tools: tuple[RemoteTool, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()

    def same_as(self, other: "Offer") -> bool:
        """Whether a model would see no difference."""
        return len(self.tools) == len(other.tools) and all(
            one.same_as(two) for one, two in zip(self.tools, other.tools, strict=True)
        )


def offered(server: "Server", listing: Listing) -> Offer:
    """The tools of a list that are allowed and can be used. What lies about itself is left out, with the reason."""
    tools: dict[str, RemoteTool] = {}
    left_out = [(name[:LABEL_CHARS], reason) for name, reason in listing.left_out]
    size = 0
    allowed = server.config.allowed_tools
    for described in listing.tools:
        if allowed is not None and described.name not in allowed:
            continue
        label = described.name[:LABEL_CHARS]
        try:
            tool = RemoteTool.of(server, described)
        except UnusableSchema as error:
            left_out.append((label, str(error)))
            continue
        size += len(json.dumps(tool.definition()))
        if not described.name:
            left_out.append((label, "it has no name"))
        elif tool.name in tools:
            left_out.append((label, "the list has a tool of this name already"))
        elif size > OFFER_BYTES_MAX:
            left_out.append(
                (label, f"there are {OFFER_BYTES_MAX:,} bytes of others; choose with allowedTools")
            )
        else:
            tools[tool.name] = tool
    left_out += _missing(server, listing)
    return Offer(tuple(tools.values()), tuple(left_out))


def _missing(server: "Server", listing: Listing) -> Iterator[tuple[str, str]]:
    there = {described.name for described in listing.tools} | {name for name, _ in listing.left_out}
    for name in sorted((server.config.allowed_tools or frozenset()) - there):
        yield name[:LABEL_CHARS], "allowedTools names it, and the server does not have it"
