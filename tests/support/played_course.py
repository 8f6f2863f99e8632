"""Runs of a journey, played by writing the rows that their agents would leave."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from chiron_workers.db.connect import Pool
from chiron_workers.ids import new_id
from chiron_workers.knowledge.assessment.questions import question_hash
from chiron_workers.knowledge.coverage.curricula import Curricula, Entry
from chiron_workers.knowledge.drafts.citable_facts import NODE_MARK
from chiron_workers.runs.session import Session
from support.research_rows import Shelf

MAP = (
    Entry("Orbit", "The path of the Moon.", is_goal_critical=True, prerequisites=("Gravity",)),
    Entry("Gravity", "What pulls.", parent="Orbit"),
)


@dataclass
class Player:
    """Plays queued runs.

    `map` is what a curriculum run saves; `barren` titles gain no fact, `silent` ones no question; `fails`, `pauses` name roles.
    """

    pool: Pool
    shelf: Shelf
    subject_id: str = "moon"
    map: tuple[Entry, ...] = MAP
    barren: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    fails: set[str] = field(default_factory=set)
    pauses: set[str] = field(default_factory=set)
    cost_usd: float = 0.25

    async def play_all(self) -> int:
        """Play all queued runs; how many there were."""
        runs = self.rows(
            "select id, batch_id, role, topic, scope from runs where state = 'queued' and batch_id is not null order by id"
        )
        for run in runs:
            if run["role"] in self.pauses:
                self._end(run, "paused", {"kind": "BudgetSpent", "message": "The budget is spent."})
            elif run["role"] in self.fails:
                self._end(run, "failed", {"kind": "ModelRefused", "message": "The model refused."})
            else:
                await getattr(self, f"_{run['role']}")(run)
                self._end(run, "completed")
        return len(runs)

    def rows(self, query: str, *args: object) -> list[dict[str, Any]]:
        cursor = self.shelf.connection.execute(query, args)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    async def _curriculum(self, run: dict[str, Any]) -> None:
        if self.map:
            async with Session(self.pool) as session:
                await Curricula(session).save(self.subject_id, self.map)

    async def _research(self, run: dict[str, Any]) -> None:
        title = run["topic"]
        if title not in self.barren:
            words = [f"{title} is so in case {n}." for n in range(3)]
            for n, content in enumerate(words):
                url = f"https://site{n}.example/{title}"
                self.shelf.fact(self.subject_id, content, url, title, quote=content, text=f"{content} More.")

    async def _assessment(self, run: dict[str, Any]) -> None:
        if run["topic"] in self.silent:
            return
        node_id = UUID(run["scope"].removeprefix(NODE_MARK))
        for n, fact in enumerate(self._facts(node_id)):
            text = f"What is {fact['topic_path']} in case {n}?"
            self.shelf.insert(
                "questions", id=new_id(), node_id=node_id, subject_id=self.subject_id, kind="recall", text=text, key="so",
                statement=fact["content"], fact_ids=[fact["id"]], question_hash=question_hash(text), run_id=run["id"],
                handed_in_at=datetime.now(UTC),
            )  # fmt: skip

    async def _lesson(self, run: dict[str, Any]) -> None:
        lesson_id = self.rows("select id from lessons where run_id = %s", run["id"])[0]["id"]
        [fact, *_] = self._facts(UUID(run["scope"].removeprefix(NODE_MARK)))
        self.shelf.insert("lesson_sections", lesson_id=lesson_id, place=0, title="What this lesson says")
        self.shelf.insert(
            "lesson_sentences", lesson_id=lesson_id, place=0, n=1, text=fact["content"], fact_ids=[fact["id"]],
            fact_statuses=["accepted"], verdict_reason="It is so.", verdict_by="rules",
        )  # fmt: skip
        self.shelf.connection.execute(
            "update lessons set state = 'handed_in', handed_in_at = now() where id = %s", (lesson_id,)
        )

    async def _judge(self, run: dict[str, Any]) -> None:
        """It leaves the answers in doubt."""

    def _facts(self, node_id: UUID) -> list[dict[str, Any]]:
        return self.rows(
            "select f.id, f.content, f.topic_path from facts f join nodes n on lower(n.title) = lower(f.topic_path)"
            " where n.id = %s and f.status = 'accepted' order by f.id",
            node_id,
        )

    def _end(self, run: dict[str, Any], state: str, error: dict[str, str] | None = None) -> None:
        is_over = state != "paused"
        with self.shelf.connection.transaction():
            self.shelf.connection.execute(
                "update runs set state = %s, error = %s, spent_usd = spent_usd + %s, finished_at = case when %s then now() end"
                " where id = %s",
                (state, json.dumps(error) if error else None, self.cost_usd, is_over, run["id"]),
            )
            self.shelf.connection.execute(
                "update batches set spent_usd = spent_usd + %s, open_runs = open_runs - %s,"
                " finished_at = case when open_runs = %s then now() end where id = %s",
                (self.cost_usd, int(is_over), int(is_over), run["batch_id"]),
            )
