"""Facts that were stored, changed and linked at given times: rows are moved, clocks never."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from chiron_workers import ids
from chiron_workers.db.connect import Pool

START = datetime(2025, 3, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return START + timedelta(days=number)


@dataclass
class Dated:
    """Writes the rows of a subject as if days had passed."""

    pool: Pool
    subject_id: str = "ice"
    facts: dict[str, str] = field(default_factory=dict)

    async def write(self, query: str, **args: Any) -> None:
        async with self.pool.connection() as connection:
            await connection.execute(query, args)

    async def begin(self) -> "Dated":
        await self.write("insert into subjects (id, title) values (%(id)s, 'Ice')", id=self.subject_id)
        return self

    async def fact(
        self, content: str, *, at: float, confidence: float = 0.9, status: str = "accepted", url: str = ""
    ) -> str:
        """A fact as it is now, stored on a day."""
        fact_id = ids.new_id()
        await self.write(
            """insert into facts (id, subject_id, content, source_url, source_score, topic_path, confidence, status, created_at)
               values (%(id)s, %(subject_id)s, %(content)s, %(url)s, 0.9, 'ice', %(confidence)s, %(status)s, %(at)s)""",
            id=fact_id, subject_id=self.subject_id, content=content, url=url or "https://example.org/ice",
            confidence=confidence, status=status, at=day(at),
        )  # fmt: skip
        self.facts[content] = str(fact_id)
        return str(fact_id)

    async def was(
        self, fact_id: str, confidence: float, status: str, *, until: float, reason: str = ""
    ) -> None:
        """What a fact was until a day on which it changed; changes are given in their order."""
        await self.write(
            """insert into fact_changes (id, fact_id, confidence, status, at, reason)
               values (%(id)s, %(fact_id)s, %(confidence)s, %(status)s, %(at)s, %(reason)s)""",
            id=ids.new_id(), fact_id=fact_id, confidence=confidence, status=status, at=day(until), reason=reason,
        )  # fmt: skip

    async def corroborate(self, fact_id: str, url: str, *, at: float) -> None:
        await self.write(
            """insert into corroborations (id, fact_id, content, quote_state, source_url, source_score, claimed_confidence,
                                           created_at)
               values (%(id)s, %(fact_id)s, 'The same.', 'unverified', %(url)s, 0.9, 0.9, %(at)s)""",
            id=ids.new_id(), fact_id=fact_id, url=url, at=day(at),
        )  # fmt: skip

    async def contradict(self, fact_id: str, other_id: str, *, at: float) -> None:
        await self.write(
            """insert into fact_links (fact_id, other_id, relation, decided_by, reason, created_at)
               values (%(fact_id)s, %(other_id)s, 'contradicts', 'rules', 'other numbers', %(at)s)""",
            fact_id=fact_id, other_id=other_id, at=day(at),
        )  # fmt: skip
