from http import HTTPStatus

from starlette.responses import Response

from chiron_api.acts.inputs import Flag, Input, Name, Tokens, Usd
from chiron_api.answers.subjects import CheckReceipt
from chiron_api.checks import CheckOptions, submit_check
from chiron_api.http.dependencies import ServicesOf
from chiron_api.http.descriptions import answers
from chiron_api.http.responses import json_response
from chiron_api.http.routing import api_router
from chiron_workers.billing.budgets import Budget
from chiron_workers.pubsub.signals import notify

router = api_router("Subjects")


class Checking(Input):
    """Who is asked whether quotes support facts, and for how much; `again` where the same facts were asked about before."""

    model: Name | None = None
    budget_usd: Usd | None = None
    budget_tokens: Tokens | None = None
    again: Flag = False


DEFAULTS = Checking()


@router.post(
    "/v1/subjects/{id}/check",
    status_code=HTTPStatus.ACCEPTED,
    summary="Have facts held to their quotes",
    response_model=CheckReceipt,
    responses=answers(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND, located=HTTPStatus.ACCEPTED)
    | {200: {"model": CheckReceipt, "description": "Nothing is open."}},
)
async def check_subject(id: str, services: ServicesOf, body: Checking = DEFAULTS) -> Response:
    """Have a model asked about the facts that only rules have judged: 202 with the batch, 200 where nothing is open."""
    options = CheckOptions(body.model, Budget(body.budget_usd, body.budget_tokens), is_fresh=body.again)
    receipt = await submit_check(services.pool, id, options, principal=services.principal)
    counts = {
        "subject_id": receipt.subject_id,
        "unchecked": receipt.unchecked,
        "unverified": receipt.unverified,
        "judge": receipt.judge,
    }
    if receipt.batch is None:
        return json_response(counts)
    batch = receipt.batch
    await notify(services.settings.redis_url, batch.batch_id)
    document = {**counts, "batch_id": batch.batch_id, "run_ids": batch.run_ids, "is_new": batch.is_new}
    headers = {"Location": f"/v1/batches/{batch.batch_id}"}
    return json_response(document, HTTPStatus.ACCEPTED, headers=headers)
