"""Words that strangers and models may write, in every row that a view shows, and the addresses of those views."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode
from uuid import UUID

from support.report_writing import OPEN, Batch, researched_batch, written_report
from support.research_rows import Shelf

MARKUP = (
    "<script>window.intruder = 1; alert(1)</script> "
    '"\'><img src=x onerror="window.intruder = 1"> <svg onload="window.intruder = 1"> '
    "<iframe src=javascript:parent.intruder=1></iframe> --> ]]> </title></textarea></style> &lt;b&gt; "
)
HOSTILE = (
    MARKUP
    + "[a](javascript:alert(1)) ![b](javascript:alert(2)) javascript:alert(3) {{7*7}} ${7*7} {% raw %} \\u0000 "
    + "مرحبا بالعالم 🙂👩\u200d👩\u200d👧 \u202eabc\u2066 \x1b[31m\x01\u200b"
)
LONG = ("How long may a question be? " * 72)[:2_000]
UNBROKEN = "x" * 2_000
SUBJECT = "towers"
NOW = datetime.now(UTC)


@dataclass(frozen=True)
class Rows:
    """What was stored, for addresses."""

    batch: UUID
    runs: tuple[UUID, ...]
    facts: tuple[UUID, ...]
    node: UUID
    report: Batch

    def paths(self) -> list[str]:
        """The address of every view that shows words of others."""
        words = urlencode({"q": HOSTILE[:1_000], "mode": "text"})
        fields = urlencode(dict.fromkeys(("q", "subject", "since", "mode", "source", "topic_path"), HOSTILE))
        filters = urlencode(
            dict.fromkeys(("topic", "state", "model", "owner", "since", "batch"), HOSTILE[:190])
        )
        draft = urlencode({"topics": HOSTILE, "subject": HOSTILE[:180]})
        subject = f"/subjects/{SUBJECT}"
        return [
            *(
                "/",
                "/batches",
                "/runs",
                f"/runs?{filters}",
                f"/batches/{self.batch}",
                f"/batches/{self.batch}?state=failed",
            ),
            *(f"/runs/{run}" for run in self.runs),
            f"/runs/{self.runs[0]}/calls/c1",
            *(f"/facts/{fact}" for fact in self.facts),
            f"/facts/{self.facts[0]}?source=2",
            *("/subjects", subject, f"{subject}?node={self.node}", f"{subject}/sources"),
            f"{subject}/changes?since=2026-01-01",
            *("/search", f"/search?{words}", f"/search?{fields}", f"/submit?{draft}", "/system"),
            *(f"{path}/report" for path in (f"/batches/{self.batch}", f"/runs/{self.runs[0]}", subject)),
            f"/batches/{self.report.id}/report",
            *("/batches/%3Cimg%20src=x%20onerror=alert(1)%3E", "/open?code=%22%3E%3Cimg%20src=x%3E"),
        ]


def hostile_rows(shelf: Shelf) -> Rows:
    """A subject with a batch of failed, paused, running and completed runs, facts of every standing, and a written report."""
    shelf.subject(SUBJECT, HOSTILE, purpose=HOSTILE)
    node = shelf.node(SUBJECT, HOSTILE, description=HOSTILE)
    shelf.node(SUBJECT, UNBROKEN[:200], prerequisites=[node], is_goal_critical=True)
    batch = shelf.batch(SUBJECT, HOSTILE)
    runs = _runs(shelf, batch)
    facts = _facts(shelf, runs[0])
    shelf.insert("holds", model=HOSTILE[:200], until=NOW + timedelta(hours=1), reason=HOSTILE)
    report = researched_batch(shelf)
    written_report(shelf, report, (HOSTILE, [(HOSTILE, [report.freeboard]), (OPEN, [report.freeboard])]))
    return Rows(batch, runs, facts, node, report)


def _runs(shelf: Shelf, batch: UUID) -> tuple[UUID, ...]:
    problem = json.dumps({"kind": "internal", "message": HOSTILE})
    failed, paused, running, completed = (
        shelf.run(SUBJECT, batch, topic, **fields)
        for topic, fields in (
            (HOSTILE, {"state": "failed", "error": problem}),
            (LONG, {"state": "paused", "error": problem, "finished_at": None, "started_at": NOW}),
            (UNBROKEN, {"state": "running", "finished_at": None, "started_at": NOW, "worker": HOSTILE}),
            (f"متى بُني البرج؟ 🗼 {HOSTILE}", {"answer": f"# {HOSTILE}\n\n- {HOSTILE}\n\n{UNBROKEN}"}),
        )
    )
    for run in (failed, running):
        shelf.events(run, batch, _events())
        shelf.insert("entries", run_id=run, n=1, kind="reply", lease=1, body=json.dumps(_reply()))
        shelf.insert(
            "tool_results", run_id=run, n=1, call_id="c1", name="web_fetch", is_error=True, body=HOSTILE, ms=5
        )
    return failed, paused, running, completed


def _events() -> list[tuple[str, dict[str, object]]]:
    call = {"call_id": "c1", "name": "web_fetch", "arguments": {"url": f"javascript:{HOSTILE}"}}
    other = {"call_id": "c2", "name": HOSTILE, "arguments": {HOSTILE: UNBROKEN}}
    return [
        ("run.started", {"worker": HOSTILE}),
        ("model.thought", {"turn": 1, "text": HOSTILE}),
        ("model.replied", {"turn": 1, "text": HOSTILE}),
        ("tool.called", call),
        ("tool.returned", {"call_id": "c1", "name": "web_fetch", "is_error": True, "ms": 5}),
        ("tool.called", other),
        ("node.saved", {"title": HOSTILE}),
        ("budget.reached", {"reason": HOSTILE}),
        ("run.failed", {"kind": HOSTILE, "message": HOSTILE}),
    ]


def _reply() -> dict[str, object]:
    return {"content": [{"type": "tool_use", "id": "c1", "name": "web_fetch", "input": {HOSTILE: HOSTILE}}]}


def _facts(shelf: Shelf, run: UUID) -> tuple[UUID, ...]:
    about, address = {"run_id": run}, "https://example.org/" + HOSTILE
    quoted = {"quote": HOSTILE, "text": f"{HOSTILE} before it. {HOSTILE} {UNBROKEN}"}
    disputed = shelf.fact(SUBJECT, HOSTILE, address, HOSTILE, status="disputed", **about, **quoted)
    other = shelf.fact(
        SUBJECT, f"{HOSTILE} 2", f"javascript:{HOSTILE}", "a", status="disputed", quote=HOSTILE
    )
    shelf.link(disputed, other, "contradicts", reason=HOSTILE)
    shelf.confirm(disputed, HOSTILE, "https://b.example.org/" + UNBROKEN, **quoted)
    superseded = shelf.fact(
        SUBJECT, f"{UNBROKEN} 3", address, "a/b", status="superseded", superseded_by=other, **about, **quoted
    )
    withdrawn = shelf.fact(SUBJECT, f"{HOSTILE} 4", address, "a/b", status="withdrawn", **about, **quoted)
    for fact in (disputed, superseded, withdrawn):
        shelf.change(fact, reason=HOSTILE, status="withdrawn" if fact is withdrawn else "candidate")
    shelf.connection.execute("update fetches set title = %(words)s, author = %(words)s", {"words": HOSTILE})
    shelf.insert("retracted_sources", url=address, doi="10.1/x", said_by="crossref")
    return disputed, other, superseded, withdrawn
