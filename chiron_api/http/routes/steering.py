from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from chiron_api.http.requests import Wire, optional_body, path_id, services
from chiron_api.http.responses import answer
from chiron_api.steering import steer
from chiron_workers.batches.steering import cancel, pause, resume, retry
from chiron_workers.batches.summaries import run_summary, summary
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool


class Nothing(Wire):
    """A request that says everything by its path."""

    def wishes(self) -> dict[str, Any]:
        """What the command is given beside its target."""
        return {}


class NewBudget(Nothing):
    """What the batch or the run may cost from now on."""

    budget_usd: Annotated[Decimal, Field(gt=0)] | None = None
    budget_tokens: Annotated[int, Field(gt=0)] | None = None

    def wishes(self) -> dict[str, Any]:
        """What the command is given beside its target."""
        return {"budget": Budget(self.budget_usd, self.budget_tokens)}


class Retry(NewBudget):
    """How to try again."""

    from_scratch: bool = False

    def wishes(self) -> dict[str, Any]:
        """What the command is given beside its target."""
        return NewBudget.wishes(self) | {"from_scratch": self.from_scratch}


COMMANDS: Mapping[str, tuple[Callable[..., Awaitable[Any]], type[Nothing]]] = {
    "cancel": (cancel, Nothing),
    "pause": (pause, Nothing),
    "resume": (resume, NewBudget),
    "retry": (retry, Retry),
}
Find = Callable[[Pool, UUID], Awaitable[object]]


def _route(kind: str, find: Find, name: str) -> Route:
    command, model = COMMANDS[name]

    async def steer_one(request: Request) -> Response:
        found, target = services(request), path_id(request)
        wish = (await optional_body(request, model)).wishes()
        await find(found.pool, target)  # an id of the other kind is not found here
        steered = await steer(found.pool, found.settings.redis_url, target, partial(command, **wish))
        document = {"changed": steered.changed, "asked": steered.requested, "lifted": list(steered.lifted)}
        return answer(document, HTTPStatus.ACCEPTED, headers={"Location": f"/v1/{kind}/{target}"})

    return Route(f"/v1/{kind}/{{id}}/{name}", steer_one, methods=["POST"])


routes = [
    _route(kind, find, name)
    for kind, find in (("batches", summary), ("runs", run_summary))
    for name in COMMANDS
]
