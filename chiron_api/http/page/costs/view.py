"""Costs by day, model, subject and key; the address has every filter."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import Response

from chiron_api.acts.costs import CostsQuery, show_costs
from chiron_api.answers.costs import Cost
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import address_of, query_of
from chiron_api.http.page.charts import day_chart
from chiron_api.http.page.forms import as_input, schema_of
from chiron_api.http.page.rendering import page
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_workers.billing.costs import NO_KEY

WORDS = {NO_KEY: "no key (this machine)"}


@dataclass(frozen=True, slots=True)
class Selection:
    """The filters as the address has them."""

    texts: Mapping[str, str]

    @property
    def query(self) -> str:
        """Those that are set, as a query string."""
        return query_of(self.texts)

    def address(self, **changes: str) -> str:
        """The view with other filters."""
        return address_of("/costs", {**self.texts, **changes})

    @staticmethod
    def share(part: Cost, total: Cost) -> float:
        """How much of a sum a part is, in percent."""
        return float(100 * part.spent_usd_min / total.spent_usd_min) if total.spent_usd_min else 0.0


async def show(request: Request) -> Response:
    """Show the filters and the costs, with the mistake of a wrong filter beside them."""
    services = services_of(request)
    selection = Selection(
        {name: request.query_params.get(name, "").strip() for name in CostsQuery.model_fields}
    )
    problem, costs = "", None
    try:
        costs = await show_costs(services, as_input(selection.texts, CostsQuery))
    except Problem as error:
        problem = error.detail
    return page(
        request,
        "costs/page.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problem else HTTPStatus.OK,
        section="/costs",
        selection=selection,
        costs=costs,
        chart=day_chart(costs.by_day) if costs else None,
        problem=problem,
        words=WORDS,
        chars_max=schema_of(CostsQuery, "model")["maxLength"],
        owner_only=services.principal.visible_owner,
    )


routes = [view("/costs", show)]
