"""Tools of MCP clients for reports: have an answer written from stored facts, and read what is known."""

import asyncio
from typing import Annotated, Any, TypedDict
from uuid import UUID

from pydantic import Field

from chiron_api.acts.inputs import Flag, Name, Tokens, Usd
from chiron_api.acts.reports import ReportOptions, Writing, order_report, report_on
from chiron_api.mcp_server.act_tools import current_services
from chiron_api.mcp_server.research import tool_errors
from chiron_api.reports.formats import DocumentName
from chiron_api.reports.scope import resolve_scope
from chiron_workers.batches.ownership import require_visible
from chiron_workers.batches.references import RUN_NAME
from chiron_workers.batches.summaries import whole_id
from chiron_workers.db.validation import parse_id_or_none
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

PAGE_CHARS = 20_000
MARKDOWN = ReportOptions(format=DocumentName("md"))


class TextPage(TypedDict):
    """A part of a text in Markdown; `next_offset` is None on the last one."""

    text: str
    chars: int
    next_offset: int | None


@tool
async def write_report(
    store: Store,
    *,
    id: Name,
    model: Name | None = None,
    budget_usd: Usd | None = None,
    budget_tokens: Tokens | None = None,
    again: Flag = False,
) -> dict[str, Any]:
    """Have an answer written from the stored facts of a batch, a run or a subject; each sentence is checked against its facts.

    It returns at once. get_run tells when it is done, and get_report then begins with the answer.

    Args:
        id: Id of a batch or a run, as start_research gave it, or the name of a subject.
        model: The model that writes. Left out, the configured one.
        budget_usd: What the writing may cost; it pauses there.
        budget_tokens: How many tokens the writing may take; it pauses there.
        again: Write anew, though the facts are the same as the last time.

    Returns:
        batch_id, run_ids, and is_new: false where the same facts were written about before.
    """
    order = Writing(model=model, budget_usd=budget_usd, budget_tokens=budget_tokens, again=again)
    with tool_errors():
        receipt = await order_report(current_services(), await visible_target(store, id), order)
    return receipt.model_dump(exclude_unset=True)


@tool
async def get_report(store: Store, *, id: Name, offset: Annotated[int, Field(ge=0)] = 0) -> TextPage:
    """Read what a batch or a run found, or what is known of a subject: a written answer if there is one, then the findings.

    Args:
        id: Id of a batch or a run, or the name of a subject.
        offset: How many characters to pass over: next_offset of the part before.

    Returns:
        text (Markdown, with numbered sources), chars of the whole, and next_offset, None on the last part.
    """
    with tool_errors():
        scope = await resolve_scope(store.session.pool, await visible_target(store, id))
        document = await report_on(current_services(), scope, MARKDOWN)
    # Beside the event loop: all that is known of a subject may be many megabytes.
    return text_page(await asyncio.to_thread(lambda: "".join(map(str, document.pieces))), offset)


def text_page(text: str, offset: int) -> TextPage:
    """The part of a text that begins there."""
    end = offset + PAGE_CHARS
    return TextPage(text=text[offset:end], chars=len(text), next_offset=end if end < len(text) else None)


async def visible_target(store: Store, id: str) -> UUID | str:
    """The batch, run or subject that a caller names. Raises NotFound where it is somebody else's."""
    if RUN_NAME.fullmatch(id.strip()):
        return await whole_id(store.session.pool, id, owner=store.caller.visible_owner)
    target = parse_id_or_none(id)
    if target is None:
        return id
    await require_visible(store.session.pool, target, store.caller.visible_owner)
    return target
