"""Remedies as requests of the HTTP API, as the declaration of the act says."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from chiron_workers.batches.summaries import BatchSummary, RunSummary
from chiron_workers.problems import Remedy, RemedyAction

if TYPE_CHECKING:  # its module takes as long to import as a tenth of a command
    from chiron_workers.batches.cost_to_finish import CostToFinish

PARAMETER = re.compile(r"{\w+}")
OPEN_ACTIONS = (RemedyAction.SAY, RemedyAction.SUBMIT, RemedyAction.START)
Summary = TypeVar("Summary", BatchSummary, RunSummary)


def with_requests(problem: Mapping[str, Any], cost: "CostToFinish | None" = None) -> dict[str, Any]:
    """An error or a reason whose remedies say which request does each, with the budget that lets all finish."""
    remedies = [Remedy.of_json(members) for members in problem.get("remedies", ())]
    if cost and problem.get("kind") == "budget":
        other_remedies = (remedy for remedy in remedies if remedy.action is not RemedyAction.RESUME)
        remedies = [cost.remedy, *other_remedies]
    return {**problem, "remedies": [request_of(remedy) for remedy in remedies]} if remedies else {**problem}


def with_remedies(item: Summary, cost: "CostToFinish | None" = None) -> Summary:
    """A summary whose errors and reasons say which requests help."""
    if isinstance(item, BatchSummary):
        return replace(item, reasons=[with_requests(reason, cost) for reason in item.reasons])
    return replace(item, error=item.error and with_requests(item.error, cost))


def request_of(remedy: Remedy) -> dict[str, Any]:
    """A remedy with the method, the path and the body of its request, and its tool; without these where no act does it."""
    members = remedy.as_json() | {"words": remedy.words}
    act = _acts_by_action().get(f"{remedy.noun.plural}.{remedy.action}")
    if act is None:
        return members
    method, _, path = act.route.partition(" ")
    if "{" in path and not remedy.target:  # of what, the caller knows
        return members
    request = {"method": method, "path": PARAMETER.sub(lambda _: quote(remedy.target, safe=""), path)}
    # What to say, to research or to learn is for the caller to find.
    if method not in ("GET", "DELETE") and remedy.action not in OPEN_ACTIONS:
        request["body"] = {name: json.loads(value) for name, value in remedy.arguments.items()}
    tools = [face.removeprefix("mcp ") for face in act.operation.faces if face.startswith("mcp ")]
    return members | request | ({"tool": tools[0]} if tools else {})


@cache
def _acts_by_action() -> dict[str, Any]:
    from chiron_api.acts.discovery import all_acts  # which imports the modules that import this one

    return {act.action: act for act in all_acts()}
