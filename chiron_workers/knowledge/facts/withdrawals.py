"""Taking facts out of all that is shown, and bringing them back; nothing is deleted."""

from chiron_workers import ids
from chiron_workers.access.audit import record_within
from chiron_workers.db.queries import load
from chiron_workers.errors import NotFound
from chiron_workers.knowledge.facts.facts import Facts
from chiron_workers.knowledge.search.vectors import copy_to_vectors
from chiron_workers.states import FactStatus

SQL = load(__file__)
REASON_CHARS_MAX = 1_000


async def withdraw(facts: Facts, fact_id: str, *, reason: str) -> FactStatus:
    """Take a fact out: no search finds it, and it counts for and against nothing. What its status was.

    Raises:
        NotFound: There is no such fact.
    """
    return await _set_withdrawn(facts, fact_id, f"withdrawn: {reason}" if reason else "withdrawn", True)


async def reinstate(facts: Facts, fact_id: str, *, reason: str) -> FactStatus:
    """Bring a fact back that was withdrawn, with the confidence it has now. What its status was.

    Raises:
        NotFound: There is no such fact.
    """
    return await _set_withdrawn(
        facts, fact_id, f"brought back: {reason}" if reason else "brought back", False
    )


async def _set_withdrawn(facts: Facts, fact_id: str, reason: str, is_withdrawn: bool) -> FactStatus:
    if not await facts.lock_subject_of([fact_id]):
        raise NotFound(f"There is no fact {fact_id}.")
    status_before = await facts.status(fact_id)
    if (status_before is FactStatus.WITHDRAWN) is is_withdrawn:
        return status_before
    await facts.session.write(
        SQL["set_status"],
        {
            "fact_id": fact_id,
            "change_id": ids.new_id(),
            "status": FactStatus.WITHDRAWN if is_withdrawn else FactStatus.CANDIDATE,
            "reason": reason[:REASON_CHARS_MAX],
            "run_id": facts.session.caller.run_id,
            "call_id": facts.session.caller.call_id,
        },
    )
    await copy_to_vectors(facts.session, [fact_id])
    cause = f"fact {fact_id} was {'withdrawn' if is_withdrawn else 'brought back'}"
    await facts.recompute_with_partners(fact_id, cause, new_id=fact_id)
    await record_within(await facts.session.begin(), facts=fact_id)
    return status_before
