"""The tool of MCP clients that has facts held to their quotes by a model."""

from decimal import Decimal
from typing import TypedDict

from chiron_api.checks import CheckOptions, submit_check
from chiron_api.mcp_server.research import Name, Usd, tool_errors
from chiron_workers.billing.budgets import Budget
from chiron_workers.settings import settings
from chiron_workers.store import Store
from chiron_workers.toolkit import tool


class StartedCheck(TypedDict, total=False):
    """What is checked and by whom; the batch is missing where nothing is open."""

    subject_id: str
    unchecked: int
    unverified: int
    judge: str
    batch_id: str
    run_ids: list[str]
    is_new: bool


@tool
async def check_subject(
    store: Store,
    *,
    subject_id: Name,
    model: Name | None = None,
    budget_usd: Usd | None = None,
    again: bool = False,
) -> StartedCheck:
    """Have a model asked whether quotes support the facts of a subject that no model has judged.

    Those are facts that were stored without a model to ask: outside of research, such as by store_knowledge here, or imported.
    It returns at once; get_run tells when it is done. What a quote does not support is then shown no longer, and stays with
    the reason.

    Args:
        subject_id: The subject, by its id or its name.
        model: Who is asked. Left out, the configured one.
        budget_usd: What the check may cost; it pauses there.
        again: Ask anew, though the same facts were asked about before.

    Returns:
        unchecked (how many quotes are asked about), unverified (how many cannot be, since the text of their source is not
        here), judge (who is asked: rules where no model is configured), and, where anything is open, batch_id, run_ids and
        is_new.
    """
    from chiron_workers.pubsub.signals import notify

    budget = Budget(None if budget_usd is None else Decimal(str(budget_usd)), None)
    with tool_errors():
        receipt = await submit_check(
            store.session.pool,
            subject_id,
            CheckOptions(model, budget, is_fresh=again),
            principal=store.caller.principal,
        )
    started = StartedCheck(
        subject_id=receipt.subject_id,
        unchecked=receipt.unchecked,
        unverified=receipt.unverified,
        judge=receipt.judge,
    )
    if receipt.batch is None:
        return started
    await notify(settings().redis_url, receipt.batch.batch_id)
    run_ids = [str(run_id) for run_id in receipt.batch.run_ids]
    batch_id = str(receipt.batch.batch_id)
    return started | StartedCheck(batch_id=batch_id, run_ids=run_ids, is_new=receipt.batch.is_new)
