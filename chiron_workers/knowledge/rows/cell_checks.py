"""Whether the facts of a cell say that its value is that of its column for the thing of its row: a question to a model."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from chiron_workers.evidence.statements.support import Finding
from chiron_workers.knowledge.drafts.citable_facts import CitableFact
from chiron_workers.knowledge.drafts.cited_statements import (
    CitedFinding,
    CitedStatement,
    Kind,
    judge_statements,
)
from chiron_workers.knowledge.drafts.fact_texts import with_windows
from chiron_workers.knowledge.drafts.sentence_checks import idle_refusal
from chiron_workers.knowledge.facts.verdicts import Verdicts
from chiron_workers.knowledge.rows.calculations import Calculation, behind
from chiron_workers.knowledge.rows.cell_rules import EMPTY_INSTEAD, CellRuling, FilledCell, rule
from chiron_workers.knowledge.rows.values import UNCHECKED_MARK
from chiron_workers.states import Verdict

HAS_VALUE = Finding(Verdict.UNCHECKED, f"It stands as {UNCHECKED_MARK}.")
# What a run is told of a cell that its facts do not support in full.
REFUSALS = {
    Verdict.PARTLY: "Its facts support it in part: {reason} Say no more than they say, {otherwise}.",
    Verdict.CONTRADICTED: "Its facts contradict it: {reason} Say what they say, {otherwise}.",
    Verdict.SILENT: "Its facts do not say so: {reason} Name the facts that do, {otherwise}.",
    Verdict.UNCHECKED: "Nobody could say whether its facts support it. {reason} Put it in their very words, {otherwise}.",
}


async def check_cells(
    cells: Sequence[FilledCell],
    facts: Mapping[str, CitableFact],
    verdicts: Verdicts,
    calculations: Sequence[Calculation] = (),
) -> list[Finding | str]:
    """For each cell the finding that it stands, or why it is refused, in their order.

    All that the rules do not refuse is one question to the model. Without a model to ask, a value that occurs in its facts
    stands as `unchecked`.

    Args:
        calculations: Those of the run. A number that no fact contains may be the result of one.

    Raises:
        LeaseLost: The run is no longer ours.
    """
    cells = [replace(cell, calculation=behind(cell.value, cell.fact_ids, calculations)) for cell in cells]
    rulings = await asyncio.to_thread(lambda: [rule(cell, facts) for cell in cells])
    seen_facts = await with_windows(verdicts.session, facts)
    statements = {
        place: CitedStatement(
            Kind.CELL,
            cell.statement,
            tuple(seen_facts[fact_id] for fact_id in cell.fact_ids),
            doubts=ruling.doubts,
        )
        for place, (cell, ruling) in enumerate(zip(cells, rulings, strict=True))
        if not ruling.refusal
    }
    answers = await judge_statements(list(statements.values()), verdicts)
    findings = dict(zip(statements, answers, strict=True))
    return [
        _outcome(ruling, findings[place]) if place in findings else ruling.refusal
        for place, ruling in enumerate(rulings)
    ]


def _outcome(ruling: CellRuling, answer: CitedFinding) -> Finding | str:
    finding = answer.finding
    match finding.verdict:
        case Verdict.SUPPORTED if answer.named_facts:
            return idle_refusal(answer)
        case Verdict.SUPPORTED:
            return finding
        case Verdict.UNCHECKED if ruling.has_value:
            return HAS_VALUE
    reason = finding.reason if finding.reason.endswith(".") else f"{finding.reason}."
    return REFUSALS[finding.verdict].format(reason=reason, otherwise=EMPTY_INSTEAD)
