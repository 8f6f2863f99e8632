from dataclasses import asdict, dataclass

from chiron_workers.db.queries import load
from chiron_workers.runs.session import Session
from chiron_workers.states import Decider, Relation

SQL = load(__file__)


@dataclass(frozen=True, slots=True)
class Link:
    """The relation of a fact to an earlier one: `fact_id` supports, contradicts or qualifies `other_id`."""

    fact_id: str
    other_id: str
    relation: Relation
    reason: str
    decided_by: Decider


class Links:
    """Stored relations between facts. Both sides of a contradiction stay, and each shows the other."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def add(self, link: Link) -> bool:
        """Store a link; whether it is new. Two facts are linked once, by the relation that came first."""
        args = asdict(link) | {"run_id": self._session.caller.run_id}
        return bool(await self._session.write(SQL["add"], args))

    async def partners(self, fact_id: str) -> list[str]:
        """The facts whose confidence depends on a fact: those it supports, and what contradicts them or itself."""
        rows = await self._session.rows(SQL["partners"], {"fact_id": fact_id})
        return [row["fact_id"] for row in rows]
