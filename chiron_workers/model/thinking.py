"""What a request says of thinking: what its run asks for, or what its model needs to say something between its calls.

The newest models think between their calls and show nothing of it unless a request asks for summaries.
"""

from typing import Literal

from chiron_workers.model.descriptions import Description, ModelDescriptions
from chiron_workers.runs.entries import Block
from chiron_workers.states import ThinkingMode

Kind = Literal["adaptive", "between_tools"]
SUMMARIZED = {"display": "summarized"}
PREFERENCE: tuple[Kind, ...] = ("adaptive", "between_tools")  # of modes that say something between calls


class ThinkingParameters:
    """The `thinking` of requests, by mode and model.

    Args:
        descriptions: What servers say of their models.
    """

    def __init__(self, descriptions: ModelDescriptions) -> None:
        self._descriptions = descriptions

    async def of(self, model: str, mode: ThinkingMode, *, budget_tokens: int) -> Block | None:
        """What the Messages API takes as `thinking`; None where nothing is said of it.

        Args:
            budget_tokens: What the mode `enabled`, which needs a budget, may think.
        """
        match mode:
            case ThinkingMode.AUTO:
                return await self._automatic(model)
            case ThinkingMode.ENABLED:
                return {"type": mode.value, "budget_tokens": budget_tokens, **SUMMARIZED}
        return _parameters(mode.value)

    async def _automatic(self, model: str) -> Block | None:
        if not model.startswith("claude"):  # other servers of this API may not know thinking
            return None
        description = await self._descriptions.of(model)
        kind = next((kind for kind in PREFERENCE if _is_supported(description, kind)), None)
        return None if kind is None else _parameters(kind)


def _parameters(kind: str) -> Block:
    return {"type": kind, **SUMMARIZED} if kind == ThinkingMode.ADAPTIVE else {"type": kind}


def _is_supported(description: Description | None, kind: Kind) -> bool:
    match description:
        case {"capabilities": {"thinking": {"types": {**kinds}}}}:
            kind_description = kinds.get(kind)
            return isinstance(kind_description, dict) and kind_description.get("supported") is True
    return False
