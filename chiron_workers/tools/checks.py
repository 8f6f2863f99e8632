from collections.abc import Mapping
from typing import TypedDict

from chiron_workers.errors import ToolError
from chiron_workers.states import Decider, Verdict
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

TIMEOUT_S = 300.0  # a model is asked four questions in turn
ONLY_RULES = "No model was asked, since none is configured. Rules only doubt, so what they do not doubt stays unchecked."
NOTHING_USABLE = "The model gave no answer that can be used for what is unchecked; another check asks again."


class CheckedFacts(TypedDict, total=False):
    """How many facts got which verdict, by whom, and how many are left; a note where there is more to know."""

    judge: str
    supported: int
    partly: int
    contradicted: int
    silent: int
    unchecked: int
    left: int
    note: str


@tool(needs_run=True, roles=("verifier",), timeout_s=TIMEOUT_S)
async def check_facts(store: Store) -> CheckedFacts:
    """Have the next facts that no model has judged checked against their quotes, 48 at most. Call it until none is left.

    Each is judged in a context of its own, which sees nothing but the statement, its quote, what stands around it, and its
    source. You judge none yourself. A fact that its quote does not support is no longer shown as accepted.

    Returns:
        judge (rules, or the model that was asked), how many are supported, partly, contradicted, silent and still unchecked, how
        many are left, and a note where there is more to know.
    """
    page = await store.checks.check_page()
    return _counts(page.verdicts, judge=store.verdicts.judge_name, left=page.left, problem=page.problem)


@tool(needs_run=True, roles=("verifier",))
async def hand_in_check(store: Store) -> CheckedFacts:
    """Hand in the check once check_facts says that none is left.

    Returns:
        What the whole check found: judge, and how many are supported, partly, contradicted, silent and still unchecked.
    """
    left = await store.checks.left()
    if left:
        raise ToolError(f"{left:,} facts are left: call check_facts until none is.")
    return _counts(await store.checks.verdicts_so_far(), judge=store.verdicts.judge_name, left=0, problem="")


def _counts(verdicts: Mapping[Verdict, int], *, judge: str, left: int, problem: str) -> CheckedFacts:
    counts = CheckedFacts(
        judge=judge,
        supported=verdicts.get(Verdict.SUPPORTED, 0),
        partly=verdicts.get(Verdict.PARTLY, 0),
        contradicted=verdicts.get(Verdict.CONTRADICTED, 0),
        silent=verdicts.get(Verdict.SILENT, 0),
        unchecked=verdicts.get(Verdict.UNCHECKED, 0),
        left=left,
    )
    if problem:
        counts["note"] = f"Of this page some are left. {problem}"
    elif judge == Decider.RULES:
        counts["note"] = ONLY_RULES
    elif counts["unchecked"]:
        counts["note"] = NOTHING_USABLE
    return counts
