"""Remedies as commands that can be pasted."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chiron_workers.problems import Noun, Remedy, RemedyAction

OPTIONS = {
    "budget_usd": "--budget-usd",
    "budget_tokens": "--budget-tokens",
    "run_budget_usd": "--run-budget-usd",
    "run_budget_tokens": "--run-budget-tokens",
}
EXAMPLE = "Answer with what you have."
EXAMPLE_GOAL = "Understand it."
# Commands other than `list` of a noun; the user replaces words in capitals.
LISTS: Mapping[Noun, tuple[str, ...]] = {
    Noun.BATCH: ("list",),
    Noun.RUN: ("show",),
    Noun.FACT: ("search", "WORDS", "--subject", "S"),
    Noun.DELIVERY: ("webhooks", "deliveries", "WEBHOOK"),
    Noun.PROPOSAL: ("learn", "proposals", "SUBJECT"),
}


def pasteable(*words: str) -> str:
    """A chiron command in backticks, quoted for a shell."""
    return f"`{command_line(*words)}`"


def command_line(*words: str) -> str:
    """A chiron command, quoted for a shell."""
    return shlex.join(("chiron", *words))


ADDS_DOCUMENTS = f"{pasteable('corpus', 'add', 'PATH', '--subject', 'S')} adds documents."


def command_of(remedy: Remedy) -> str:
    """The command of a remedy; empty where there is none."""
    target, noun = remedy.target, remedy.noun
    match remedy.action:
        case RemedyAction.CHANGE_SETTING:
            return ""
        case RemedyAction.SUBMIT:
            return pasteable("submit", "TOPIC", "--subject", "S")
        case RemedyAction.START:
            return pasteable("learn", "start", target, "--goal", EXAMPLE_GOAL)
        case RemedyAction.STOP:
            return pasteable("learn", "stop", target)
        case RemedyAction.REVOKE:
            return pasteable("keys", "revoke", target)
        case RemedyAction.CANCEL:
            return pasteable("cancel", target)
        case RemedyAction.RESUME if noun in (Noun.WEBHOOK, Noun.SUBSCRIPTION):
            return pasteable(noun.plural, "resume", target)
        case RemedyAction.CHECK_MODEL:
            return pasteable("doctor", "--model", remedy.target)
        case RemedyAction.LIST:
            return pasteable(*LISTS.get(noun, (noun.plural, "list")), *([target] if noun is Noun.RUN else []))
        case RemedyAction.SAY:
            return pasteable("say", remedy.target, EXAMPLE)
        case RemedyAction.RESUME | RemedyAction.RETRY:
            amounts = [word for name, value in remedy.arguments.items() for word in (OPTIONS[name], value)]
            return pasteable(remedy.action, remedy.target, *amounts)


def remedy_lines(remedies: Sequence[Remedy]) -> Iterator[str]:
    """A line for each remedy: its words and its command."""
    for remedy in remedies:
        command = command_of(remedy)
        yield f"  {remedy.words}: {command}" if command else f"  {remedy.words}."


def lines_of_problem(problem: Mapping[str, Any], *, has_amount: bool = False) -> Iterator[str]:
    """The remedies of an error or a reason; `has_amount` where another line has the budget that lets all finish."""
    remedies = [Remedy.of_json(members) for members in problem.get("remedies", ())]
    return remedy_lines(
        [
            remedy
            for remedy in remedies
            if not (has_amount and problem.get("kind") == "budget" and remedy.action is RemedyAction.RESUME)
        ]
    )
