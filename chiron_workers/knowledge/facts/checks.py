"""Facts that no model has judged: a run of the verifier has them checked against their quotes, page by page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow
from psycopg.types.json import Json

from chiron_workers.db.connect import Query
from chiron_workers.db.queries import load
from chiron_workers.errors import ToolError
from chiron_workers.evidence.statements.support import Finding
from chiron_workers.knowledge.facts.confidences import ensure_sketches
from chiron_workers.knowledge.facts.facts import Facts
from chiron_workers.knowledge.facts.source_views import load_views
from chiron_workers.knowledge.facts.verdicts import Evidence, Verdicts
from chiron_workers.runs.session import Session
from chiron_workers.states import Decider, Verdict

SQL = load(__file__)
QUESTION_FACTS = 12  # of one question
PAGE_FACTS = 48  # of one call of the verifier
REASON_CHARS_MAX = 1_000
# What a quote does for its fact, as the history of the fact says it.
DEEDS = {
    Verdict.SUPPORTED: "supports it, which rules had doubted",
    Verdict.PARTLY: "supports it in part",
    Verdict.CONTRADICTED: "contradicts it",
    Verdict.SILENT: "does not speak of it",
}


@dataclass(frozen=True, slots=True)
class Unchecked:
    """How many assertions of a subject are to be checked, a hash of them, and how many quotes nobody can be asked about.

    `digest` is None where there is nothing to ask.
    """

    assertions: int
    digest: str | None
    unverified: int


@dataclass(frozen=True, slots=True)
class CheckPage:
    """What became of a page of assertions: how many there are of each verdict, and how many are left.

    `problem` says why the model did not answer for the rest of the page, which is still left.
    """

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    left: int = 0
    problem: str = ""


async def unchecked_of(session: Session, subject_id: str) -> Unchecked:
    """What of a subject no model has judged."""
    row = await session.row(SQL["overview"], {"subject_id": subject_id})
    assert row is not None
    return Unchecked(**row)


class Checks:
    """The check that a run makes: of what its subject had unchecked when it was submitted."""

    def __init__(self, session: Session, facts: Facts, verdicts: Verdicts) -> None:
        self._session = session
        self._facts = facts
        self._verdicts = verdicts
        self._args = {"subject_id": session.caller.subject_id, "run_id": session.caller.run_id}

    async def left(self) -> int:
        """How many assertions the run has not asked about."""
        row = await self._session.row(SQL["left"], self._args)
        return int(row["assertions"]) if row else 0

    async def verdicts_so_far(self) -> Counter[Verdict]:
        """What the run has found, by verdict; `unchecked` counts those to which it got no usable answer."""
        rows = await self._session.rows(SQL["verdicts_of_run"], self._args)
        return Counter({Verdict(row["verdict"]): row["assertions"] for row in rows})

    async def check_page(self) -> CheckPage:
        """Have the next assertions judged, store the verdicts, and compute the facts anew that count otherwise by them.

        The same page is asked about in the same words by a call that is made again, so nothing is paid for twice.

        Raises:
            ToolError: The model does not answer now, and nothing was judged.
        """
        rows = await self._with_views(SQL["page"], {"limit": PAGE_FACTS})
        findings, problem = await self._judge(rows)
        judged_rows = rows[: len(findings)]
        if judged_rows:
            await self._store(judged_rows, findings)
        verdicts = Counter(finding.verdict for finding in findings)
        return CheckPage(verdicts, await self.left(), problem)

    async def check_contexts(self, fact_ids: Sequence[str]) -> None:
        """Have facts of the subject judged among the words that stand around their quotes now: one question, as far as it goes.

        Without an answer they stay in doubt, for the next check.
        """
        rows = await self._with_views(SQL["contexts"], {"fact_ids": list(fact_ids), "limit": QUESTION_FACTS})
        with suppress(ToolError):
            findings, _ = await self._judge(rows)
            if findings:
                await self._store(rows, findings)

    async def _with_views(self, query: Query, args: Mapping[str, Any]) -> list[DictRow]:
        rows = await self._session.rows(query, {**self._args, **args})
        views = await load_views(self._session, [row["id"] for row in rows], is_newest=True)
        return [row | {"view": views.get(str(row["id"]))} for row in rows]

    async def _judge(self, rows: Sequence[DictRow]) -> tuple[list[Finding], str]:
        """Findings for as many of the rows, from the first on, as the model answers for; why it does not for the others."""
        findings: list[Finding] = []
        for start in range(0, len(rows), QUESTION_FACTS):
            page = rows[start : start + QUESTION_FACTS]
            evidence = [
                # The stored context is that of before, which says nothing of the words that stand there now.
                Evidence(
                    row["content"],
                    row["quote"],
                    "" if row["difference"] is not None else row["context"],
                    row["source_url"],
                    view=row["view"],
                )
                for row in page
            ]
            try:
                findings += await self._verdicts.judge_all(evidence, needs_answer=True)
            except ToolError as error:
                if not findings:
                    raise
                return findings, str(error)
        return findings, ""

    async def _store(self, rows: Sequence[DictRow], findings: Sequence[Finding]) -> None:
        pairs = list(zip(rows, findings, strict=True))
        await ensure_sketches(self._session, snapshots=[], facts=[row["fact_id"] for row in rows])
        await self._facts.lock_subject(str(self._session.caller.subject_id))
        await self._store_first([(row, finding) for row, finding in pairs if row["difference"] is None])
        await self._store_anew([(row, finding) for row, finding in pairs if row["difference"] is not None])

    async def _store_first(self, pairs: Sequence[tuple[DictRow, Finding]]) -> None:
        changes = {
            row["id"]: (row, finding)
            for row, finding in pairs
            if finding.verdict.is_doubt or Verdict(row["verdict"]).is_doubt
        }
        args = self._args | _columns(pairs)
        stored_ids: set[UUID] = set()
        for statement in ("store_of_facts", "store_of_corroborations"):
            stored_ids |= {row["id"] for row in await self._session.write(SQL[statement], args)}
        for row, finding in (changes[key] for key in changes if key in stored_ids):
            deed = DEEDS.get(finding.verdict, "has no verdict")
            reason = f"its quote from {row['source_url']} {deed}: {finding.reason} ({finding.judge})"
            await self._recompute(row["fact_id"], reason[:REASON_CHARS_MAX])

    async def _store_anew(self, pairs: Sequence[tuple[DictRow, Finding]]) -> None:
        """Store verdicts on quotes among new words; only a model's, since rules do not compare them."""
        answers = [(row, finding) for row, finding in pairs if finding.judge not in ("", Decider.RULES)]
        answer_ids = {row["id"] for row, _ in answers}
        silent_ids = [row["id"] for row, _ in pairs if row["id"] not in answer_ids]
        await self._session.write(SQL["leave_contexts"], self._args | {"ids": silent_ids})
        differences = {"differences": [row["difference"] for row, _ in answers]}
        stored_rows = await self._session.write(
            SQL["store_of_contexts"], self._args | _columns(answers) | differences
        )
        stored_ids = {row["id"] for row in stored_rows}
        for row, finding in answers:
            if row["id"] in stored_ids and (finding.verdict.is_doubt or Verdict(row["verdict"]).is_doubt):
                deed = DEEDS.get(finding.verdict, "has no verdict")
                reason = f"its quote from {row['source_url']}, among other words now, {deed}: {finding.reason} ({finding.judge})"
                await self._recompute(row["fact_id"], reason[:REASON_CHARS_MAX])

    async def _recompute(self, fact_id: str, reason: str) -> None:
        """Compute a fact anew whose quote counts otherwise, and those whose confidence depends on it."""
        partner_ids = await self._facts.links.partners(fact_id)
        await self._facts.confidences.recompute([fact_id], reason=reason)
        await self._facts.confidences.recompute(partner_ids, reason=f"the quote of fact {fact_id} was judged")


def _columns(pairs: Sequence[tuple[DictRow, Finding]]) -> dict[str, Any]:
    rows, findings = [row for row, _ in pairs], [finding for _, finding in pairs]
    return {
        "ids": [row["id"] for row in rows],
        "verdicts": [finding.verdict for finding in findings],
        "reasons": [finding.reason for finding in findings],
        "judges": [finding.judge for finding in findings],
        "windows": [Json(row["view"].window.as_rows()) if row["view"] else None for row in rows],
        "window_hashes": [row["view"].window_hash if row["view"] else None for row in rows],
    }
