"""Rows as research leaves them, written by hand: subjects, runs, sources, facts with all that hangs on them."""

import hashlib
import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import psycopg
import zstandard

from chiron_workers.evidence.quotes.context import context_of
from chiron_workers.ids import new_id

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Shelf:
    def __init__(self, database_url: str) -> None:
        self.connection = psycopg.connect(database_url, autocommit=True)

    def subject(self, subject_id: str, title: str = "", purpose: str | None = None) -> str:
        self._insert("subjects", id=subject_id, title=title or subject_id, purpose_statement=purpose)
        return subject_id

    def node(self, subject_id: str, title: str, parent: UUID | None = None, **more) -> UUID:
        depth = 0 if parent is None else 1
        return self._insert(
            "nodes",
            subject_id=subject_id,
            title=title,
            parent_id=parent,
            **{"depth": depth, "description": title} | more,
        )

    def batch(self, subject_id: str, name: str = "") -> UUID:
        return self._insert(
            "batches", subject_id=subject_id, name=name, run_count=1, open_runs=0, request_hash="none"
        )

    def run(self, subject_id: str, batch_id: UUID, topic: str, **more) -> UUID:
        usual = {"role": "research", "model": "claude-opus-5-5", "state": "completed", "max_turns": 9}
        spent = {"spent_usd": 0.5, "input_tokens": 1200, "output_tokens": 300, "facts": 1, "turns": 4}
        at = {"started_at": NOON, "finished_at": NOON + timedelta(hours=1)}
        values = usual | spent | at | more
        return self._insert("runs", subject_id=subject_id, batch_id=batch_id, topic=topic, **values)

    def events(self, run_id: UUID, batch_id: UUID, events: list[tuple[str, dict]]) -> None:
        """The events of a run, counted from 1."""
        self.connection.execute("update runs set seq = %s where id = %s", (len(events), run_id))
        for seq, (kind, data) in enumerate(events, start=1):
            self.insert("events", run_id=run_id, batch_id=batch_id, seq=seq, kind=kind, data=json.dumps(data))

    def add_event(self, run_id: UUID, batch_id: UUID, kind: str, data: dict) -> int:
        """One more event of a run; its number."""
        statement = "update runs set seq = seq + 1 where id = %s returning seq"
        [seq] = self.connection.execute(statement, (run_id,)).fetchone()
        self.insert("events", run_id=run_id, batch_id=batch_id, seq=seq, kind=kind, data=json.dumps(data))
        return seq

    def source(self, url: str, text: str, **more) -> str:
        """Keep a text that an address gave; its hash."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        body = zstandard.compress(text.encode())
        self.connection.execute(
            "insert into snapshots (hash, body, chars, content_type) values (%s, %s, %s, 'text/html') on conflict do nothing",
            (digest, body, len(text)),
        )
        self._insert("fetches", url=url, hash=digest, **{"fetched_at": NOON} | more)
        return digest

    def fact(
        self, subject_id: str, content: str, url: str, path: str = "a/b", *, quote: str = "", **more
    ) -> UUID:
        """Store a fact; with a `quote` that stands in `text`, a verified one. Further fields as columns."""
        usual = {"source_score": 0.9, "confidence": 0.9, "status": "accepted", "claimed_confidence": 0.8}
        return self._insert(
            "facts", subject_id=subject_id, content=content, source_url=url, topic_path=path,
            **usual | self._quoted(quote, url, more.pop("text", "")) | {"validated_at": NOON, "created_at": NOON} | more,
        )  # fmt: skip

    def confirm(self, fact_id: UUID, content: str, url: str, *, quote: str = "", **more) -> UUID:
        usual = {
            "source_score": 0.8,
            "claimed_confidence": 0.8,
            "quote_state": "unverified",
            "created_at": NOON,
        }
        return self._insert(
            "corroborations", fact_id=fact_id, content=content, source_url=url,
            **usual | self._quoted(quote, url, more.pop("text", "")) | more,
        )  # fmt: skip

    def link(self, fact_id: UUID, other_id: UUID, relation: str, **more) -> None:
        usual = {"decided_by": "rules", "reason": "The figures differ.", "created_at": NOON}
        values = {"fact_id": fact_id, "other_id": other_id, "relation": relation} | usual | more
        self.insert("fact_links", **values)

    def change(self, fact_id: UUID, **more) -> UUID:
        usual = {"confidence": 0.4, "status": "candidate", "reason": "also in b.org", "at": NOON}
        return self._insert("fact_changes", fact_id=fact_id, **usual | more)

    def _quoted(self, quote: str, url: str, text: str) -> dict[str, object]:
        if not (quote and text):
            return {"quote": quote} if quote else {}
        start = text.index(quote)
        return {
            "quote": quote, "quote_state": "verified", "quote_start": start, "quote_end": start + len(quote),
            "snapshot_hash": self.source(url, text), "context": context_of(text, start, start + len(quote)),
        }  # fmt: skip

    def _insert(self, table: str, **values) -> UUID:
        values = {"id": new_id()} | values
        self.insert(table, **values)
        return values["id"]

    def insert(self, table: str, **values: object) -> None:
        names = psycopg.sql.SQL(", ").join(map(psycopg.sql.Identifier, values))
        marks = psycopg.sql.SQL(", ").join(psycopg.sql.Placeholder() * len(values))
        query = psycopg.sql.SQL("insert into {} ({}) values ({})")
        self.connection.execute(
            query.format(psycopg.sql.Identifier(table), names, marks), list(values.values())
        )
