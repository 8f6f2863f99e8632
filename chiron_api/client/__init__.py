"""What programs need that talk to Chiron over HTTP; nothing else of Chiron is imported here.

The server uses the models, too, and needs nothing of HTTP for them: the rest is imported once it is asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chiron_api.client.act_methods import Column, Topic
    from chiron_api.client.async_chiron import AsyncChiron
    from chiron_api.client.chiron import Chiron
    from chiron_api.client.errors import (
        ChironError,
        NotFound,
        RateLimited,
        Refused,
        StillOpen,
        Unavailable,
        Unreadable,
    )
    from chiron_api.client.flows.streams import UnknownEvent

__all__ = [
    "AsyncChiron",
    "Chiron",
    "ChironError",
    "Column",
    "NotFound",
    "RateLimited",
    "Refused",
    "StillOpen",
    "Topic",
    "Unavailable",
    "UnknownEvent",
    "Unreadable",
]
_HOMES = {
    "AsyncChiron": "async_chiron",
    "Chiron": "chiron",
    "Column": "act_methods",
    "Topic": "act_methods",
    "UnknownEvent": "flows.streams",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)
