"""The model call that follows the results of a reply: reserved by the write that settles the last of them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from chiron_workers.agent.metered_model import MeteredModel
from chiron_workers.agent.window import Window
from chiron_workers.runs.entries import MaxCost, ToolResult


@dataclass(slots=True)
class NextCall:
    """Which result is the last, and what the call after it can cost at most.

    Where several calls end at the same time none of them is the last, and the model call reserves for itself.

    Args:
        open_ids: Of the calls that have no result yet.
    """

    model: MeteredModel
    window: Window
    open_ids: set[str]
    results: list[ToolResult] = field(default_factory=list)

    @classmethod
    def after(cls, call_ids: Iterable[str], *, model: MeteredModel, window: Window) -> "NextCall":
        """The call that follows the results of these."""
        return cls(model, window, set(call_ids))

    def advance_with(self, result: ToolResult) -> MaxCost | None:
        """What the call can cost once this result is settled; None where others are open or nothing is to be reserved."""
        results = [*self.results, result]
        if self.open_ids != {result.call_id} or any(item.ends_silently for item in results):
            return None
        request = self.window.request()
        return self.model.plan_advance(request, prompt_tokens=self.window.prompt_tokens_max_after(results))

    def note(self, result: ToolResult) -> None:
        """Count a result that is settled."""
        self.open_ids.discard(result.call_id)
        self.results.append(result)
