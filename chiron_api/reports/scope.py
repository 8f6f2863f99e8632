"""What a report is about, where it is asked for by the id of a run that wrote one."""

from uuid import UUID

from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.drafts.reading import scope_of_runs


async def resolve_scope(pool: Pool, target: UUID | str) -> UUID | str:
    """What a report on a target is about: of a run that wrote a report, what it wrote on; else the target itself."""
    scope = await scope_of_runs(pool, target) if isinstance(target, UUID) else None
    if scope is None:
        return target
    from chiron_workers.knowledge.drafts.citable_facts import NODE_MARK, Scope  # few are about such a run

    return target if scope.startswith(NODE_MARK) else Scope.of(scope).id or scope
