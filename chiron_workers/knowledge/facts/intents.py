"""Writers of one subject side by side: each says what it is about to store, and waits for earlier ones that it is related to."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers import ids
from chiron_workers.db.pipelines import Statement
from chiron_workers.db.queries import load
from chiron_workers.knowledge.facts import locks
from chiron_workers.knowledge.facts.matching import Comparison, is_related
from chiron_workers.runs.session import Session

SQL = load(__file__)
SWEEP_EVERY = 200  # declarations of this process

_declarations = count(1)


@dataclass(frozen=True, slots=True)
class Intent:
    """What a writer is about to store. It ends with the transaction that the writer begins by it."""

    session: Session
    comparison: Comparison
    key: UUID

    @classmethod
    def of(cls, session: Session, comparison: Comparison) -> "Intent":
        """The intent to store a claim that was compared."""
        return cls(session, comparison, ids.new_id())

    async def begin(self, look: Statement, *, before: Sequence[Statement] = ()) -> list[DictRow]:
        """Declare the intent, and begin the session's transaction by a look at what is near; the rows of that.

        What goes `before` commits with the intent, whatever becomes of the claim. The arguments of the look are those of the
        intent, too.
        """
        claim = self.comparison.claim
        statements = [*before, Statement(SQL["declare"], look.args)]
        if next(_declarations) % SWEEP_EVERY == 0:
            statements.append(Statement(SQL["forget_old"]))
        self.session.on_rollback(Statement(SQL["forget"], {"key": self.key}))
        results = await self.session.share(
            *statements,
            Statement(SQL["commit_and_begin"]),
            Statement(locks.SQL["share_subject"], look.args),
            look,
            key=locks.key_of(claim.subject_id),
            alone=f"fact {claim.subject_id} {claim.content}",
        )
        return results[-1]

    async def wait_for_earlier(self, rows: Sequence[DictRow]) -> bool:
        """Wait for the writers before this one whose claims are related to its own; whether there are any."""
        content = self.comparison.claim.content
        rival_ids = [
            row["intent_id"] for row in rows if row["intent_id"] and is_related(content, row["content"])
        ]
        if rival_ids:
            await self.session.write(SQL["wait_for_earlier"], {"ids": rival_ids})
        return bool(rival_ids)
