"""Paths that name a run by its number in its batch: /v1/batches/{id}/runs/3, or /v1/runs/{id of the batch}%233."""

import re
from collections.abc import Awaitable, Callable
from uuid import UUID

from starlette.types import Scope

from chiron_workers.access.principals import Principal
from chiron_workers.batches.ownership import require_visible
from chiron_workers.batches.references import run_of_number
from chiron_workers.db.connect import Pool
from chiron_workers.errors import NotFound, UsageError

PATHS = tuple(
    re.compile(rf"(?P<api>/v1)?{path}(?P<rest>/.*)?")
    for path in (
        "/batches/(?P<batch>[0-9A-Fa-f-]{36})/runs/(?P<number>[1-9][0-9]{0,5})",
        "/runs/(?P<batch>[0-9A-Fa-f-]{36})#(?P<number>[1-9][0-9]{0,5})",
    )
)


async def name_run_by_id(
    scope: Scope, find_pool: Callable[[Scope], Awaitable[Pool]], principal: Principal
) -> None:
    """Have the path of a request name a run by its id where it has its number, so that rights, audit and routes see one form.

    Raises:
        NotFound: The batch is not there, for this principal, or is a run, or has no run of this number.
    """
    match = next(filter(None, (path.fullmatch(scope["path"]) for path in PATHS)), None)
    if match is None:
        return
    try:
        batch_id = UUID(match["batch"])
    except ValueError:  # the route says that there is no such thing
        return
    pool = await find_pool(scope)
    await require_visible(pool, batch_id, principal.visible_owner)
    try:
        run_id = await run_of_number(pool, batch_id, int(match["number"]))
    except UsageError as error:
        raise NotFound(str(error), remedies=error.remedies) from None
    scope["path"] = f"{match['api'] or ''}/runs/{run_id}{match['rest'] or ''}"
    scope["raw_path"] = scope["path"].encode()
