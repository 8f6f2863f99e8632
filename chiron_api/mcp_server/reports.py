"""Tools of MCP clients for reports: have an answer written from stored facts, and read what is known."""

import asyncio
from decimal import Decimal
from typing import Annotated, TypedDict
from uuid import UUID

from pydantic import Field

from chiron_api.mcp_server.research import Name, StartedResearch, Usd, tool_errors
from chiron_api.reports.formats import FORMATS
from chiron_api.reports.gathering import gather
from chiron_api.reports.scope import resolve_scope
from chiron_api.reports.writing import WritingOptions, submit_report
from chiron_workers.batches.ownership import require_visible
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.validation import parse_id_or_none
from chiron_workers.settings import settings
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

PAGE_CHARS = 20_000


class ReportPage(TypedDict):
    """A part of a report in Markdown; `next_offset` is None on the last one."""

    text: str
    chars: int
    next_offset: int | None


@tool
async def write_report(
    store: Store, *, id: Name, model: Name | None = None, budget_usd: Usd | None = None, again: bool = False
) -> StartedResearch:
    """Have an answer written from the stored facts of a batch, a run or a subject; each sentence is held to its facts.

    It returns at once. get_run tells when it is done, and get_report then begins with the answer.

    Args:
        id: Id of a batch or a run, as start_research gave it, or the name of a subject.
        model: The model that writes. Left out, the configured one.
        budget_usd: What the writing may cost; it pauses there.
        again: Write anew, though the facts are the same as the last time.

    Returns:
        batch_id, run_ids, and is_new: false where the same facts were written about before.
    """
    from chiron_workers.pubsub.signals import notify

    budget = Budget(None if budget_usd is None else Decimal(str(budget_usd)), None)
    with tool_errors():
        options = WritingOptions(model, budget, is_fresh=again)
        target = await visible_target(store, id)
        batch = await submit_report(store.session.pool, target, options, principal=store.caller.principal)
    await notify(settings().redis_url, batch.batch_id)
    run_ids = [str(run_id) for run_id in batch.run_ids]
    return StartedResearch(batch_id=str(batch.batch_id), run_ids=run_ids, is_new=batch.is_new)


@tool
async def get_report(store: Store, *, id: Name, offset: Annotated[int, Field(ge=0)] = 0) -> ReportPage:
    """Read what a batch or a run found, or what is known of a subject: a written answer if there is one, then the findings.

    Args:
        id: Id of a batch or a run, or the name of a subject.
        offset: How many characters to pass over: next_offset of the part before.

    Returns:
        text (Markdown, with numbered sources), chars of the whole, and next_offset, None on the last part.
    """
    with tool_errors():
        scope = await resolve_scope(store.session.pool, await visible_target(store, id))
        report = await gather(store.session.pool, scope, owner=store.caller.visible_owner)
    render = FORMATS["md"].render
    assert render
    # Beside the event loop: all that is known of a subject may be many megabytes.
    text = await asyncio.to_thread(lambda: "".join(map(str, render(report))))
    end = offset + PAGE_CHARS
    return ReportPage(text=text[offset:end], chars=len(text), next_offset=end if end < len(text) else None)


async def visible_target(store: Store, id: str) -> UUID | str:
    """The batch, run or subject that a caller names. Raises NotFound where it is somebody else's."""
    target = parse_id_or_none(id)
    if target is None:
        return id
    await require_visible(store.session.pool, target, store.caller.visible_owner)
    return target
