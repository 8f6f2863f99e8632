"""Whether the facts of a cell bear out its value: by rules, else by the verdict that sentences of drafts get."""

import asyncio
from collections.abc import Mapping, Sequence

from chiron_workers.evidence.statements.support import Finding
from chiron_workers.knowledge.drafts.citable_facts import CitableFact
from chiron_workers.knowledge.drafts.sentence_checks import evidence_of
from chiron_workers.knowledge.facts.verdicts import Verdicts
from chiron_workers.knowledge.rows.cell_rules import EMPTY_INSTEAD, IN_ITS_WORDS, CellRuling, FilledCell, rule
from chiron_workers.states import Verdict

# What a run is told of a cell whose facts do not bear it out in full.
REFUSALS = {
    Verdict.PARTLY: "Its facts bear it out in part: {reason} Say no more than they say, {otherwise}.",
    Verdict.CONTRADICTED: "Its facts contradict it: {reason} Say what they say, {otherwise}.",
    Verdict.SILENT: "Its facts do not say so: {reason} Name the facts that do, {otherwise}.",
    Verdict.UNCHECKED: "Nobody could say whether its facts bear it out. {reason} Put it in their very words, {otherwise}.",
}


async def check_cells(
    cells: Sequence[FilledCell], facts: Mapping[str, CitableFact], verdicts: Verdicts
) -> list[Finding | str]:
    """For each cell the finding that its facts bear it out, or why it is refused, in their order.

    All that the rules leave open is one question to the model. Where nobody can be asked, a value stands that its facts show.

    Raises:
        LeaseLost: The run is no longer ours.
    """
    rulings = await asyncio.to_thread(lambda: [rule(cell, facts) for cell in cells])
    open_places = [
        place for place, ruling in enumerate(rulings) if ruling.finding is None and not ruling.refusal
    ]
    questions = [
        evidence_of(cells[place].statement, [facts[fact_id] for fact_id in cells[place].fact_ids])
        for place in open_places
    ]
    answers = await verdicts.judge_all(questions, without_rules=[True] * len(questions))
    findings = dict(zip(open_places, answers, strict=True))
    return [
        _outcome(ruling, findings[place]) if place in findings else ruling.finding or ruling.refusal
        for place, ruling in enumerate(rulings)
    ]


def _outcome(ruling: CellRuling, finding: Finding) -> Finding | str:
    match finding.verdict:
        case Verdict.SUPPORTED:
            return finding
        case Verdict.UNCHECKED if ruling.is_shown:
            return IN_ITS_WORDS
    reason = finding.reason if finding.reason.endswith(".") else f"{finding.reason}."
    return REFUSALS[finding.verdict].format(reason=reason, otherwise=EMPTY_INSTEAD)
