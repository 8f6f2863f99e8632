"""Remedies of problems as objects. Each front end renders them in its own way; messages name no commands."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Self
from uuid import UUID


class RemedyAction(StrEnum):
    """The action of a remedy: the verb of an act, or a step that a person takes elsewhere."""

    RESUME = "resume"
    RETRY = "retry"
    CANCEL = "cancel"
    SUBMIT = "submit"
    START = "start"
    STOP = "stop"
    REVOKE = "revoke"
    SAY = "say"
    CHECK_MODEL = "check_model"
    CHANGE_SETTING = "change_setting"
    LIST = "list"


class Noun(StrEnum):
    """The kind of a remedy's target."""

    RUN = "run"
    BATCH = "batch"
    MODEL = "model"
    SETTING = "setting"
    SUBSCRIPTION = "subscription"
    WEBHOOK = "webhook"
    DELIVERY = "delivery"
    FACT = "fact"
    PROPOSAL = "proposal"
    JOURNEY = "journey"
    KEY = "key"

    @property
    def plural(self) -> str:
        """The word for several."""
        return {Noun.BATCH: "batches", Noun.DELIVERY: "deliveries"}.get(self, f"{self}s")


@dataclass(frozen=True, slots=True)
class Remedy:
    """A way to solve a problem, with the arguments of its act by name; an amount of money is one of them.

    Args:
        target: An id or a name; empty for the run that has the problem, or its batch.
    """

    action: RemedyAction
    noun: Noun = Noun.RUN
    target: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """Its label for a button or a list."""
        budgets = any("budget" in name for name in self.arguments)
        match self.action:
            case RemedyAction.RESUME if budgets:
                return f"Raise the budget and continue the {self.noun}"
            case RemedyAction.RESUME:
                return f"Continue the {self.noun}"
            case RemedyAction.RETRY:
                return f"Try the {self.noun} again"
            case RemedyAction.CANCEL | RemedyAction.STOP:
                return f"{self.action.capitalize()} the {self.noun} first"
            case RemedyAction.SUBMIT:
                return "Submit topics"
            case RemedyAction.START:
                return f"Start a {self.noun}"
            case RemedyAction.REVOKE:
                return f"Revoke the {self.noun} {self.target} first"
            case RemedyAction.SAY:
                return "Say what to do instead"
            case RemedyAction.CHECK_MODEL:
                return f"Check the model {self.target}"
            case RemedyAction.CHANGE_SETTING:
                return f"Change the setting {self.target}"
            case RemedyAction.LIST if self.noun is Noun.RUN:
                return "See the runs of the batch"
            case RemedyAction.LIST:
                return f"See the {self.noun.plural}"

    def resolve(self, *, run_id: UUID | None, batch_id: UUID) -> Self:
        """Name the target. Without a run it is the batch: the remedy of one run is applied to all of its runs."""
        if self.target:
            return self
        if self.noun is Noun.RUN and run_id is not None:
            return replace(self, target=str(run_id))
        return replace(self, noun=Noun.BATCH, target=str(batch_id))

    def as_json(self) -> dict[str, Any]:
        """As it is stored and sent."""
        return asdict(self) | {"arguments": dict(self.arguments)}

    @classmethod
    def of_json(cls, members: Mapping[str, Any]) -> Self:
        """A remedy that was stored."""
        arguments = {str(name): str(value) for name, value in members.get("arguments", {}).items()}
        return cls(
            RemedyAction(members["action"]), Noun(members["noun"]), str(members.get("target", "")), arguments
        )


CONTINUE = Remedy(RemedyAction.RESUME)
CONTINUE_BATCH = Remedy(RemedyAction.RESUME, Noun.BATCH)
TRY_AGAIN = Remedy(RemedyAction.RETRY)
SAY_SOMETHING = Remedy(RemedyAction.SAY)
SEE_BATCHES = Remedy(RemedyAction.LIST, Noun.BATCH)
SEE_SUBSCRIPTIONS = Remedy(RemedyAction.LIST, Noun.SUBSCRIPTION)
SEE_WEBHOOKS = Remedy(RemedyAction.LIST, Noun.WEBHOOK)
SEE_DELIVERIES = Remedy(RemedyAction.LIST, Noun.DELIVERY)
SEE_FACTS = Remedy(RemedyAction.LIST, Noun.FACT)
SEE_PROPOSALS = Remedy(RemedyAction.LIST, Noun.PROPOSAL)
SEE_KEYS = Remedy(RemedyAction.LIST, Noun.KEY)
SUBMIT_TOPICS = Remedy(RemedyAction.SUBMIT, Noun.BATCH)


def check_model(model: str) -> Remedy:
    """Have a model probed: does it call tools, does it stop?"""
    return Remedy(RemedyAction.CHECK_MODEL, Noun.MODEL, model)


def see_runs(batch: object) -> Remedy:
    """Look at the runs of a batch."""
    return Remedy(RemedyAction.LIST, Noun.RUN, str(batch))


def cancel(noun: Noun, id_: object) -> Remedy:
    """Cancel a batch or a run before something else is done to it."""
    return Remedy(RemedyAction.CANCEL, noun, str(id_))


def start_journey(subject_id: str) -> Remedy:
    """Begin a journey through a subject, to a goal that its learner names."""
    return Remedy(RemedyAction.START, Noun.JOURNEY, subject_id)


def stop_journey(subject_id: str) -> Remedy:
    """Stop a journey through a subject before something else is done to it."""
    return Remedy(RemedyAction.STOP, Noun.JOURNEY, subject_id)


def revoke_key(name: str) -> Remedy:
    """End a key, so that its name is free."""
    return Remedy(RemedyAction.REVOKE, Noun.KEY, name)


def resume_subscription(subscription_id: UUID) -> Remedy:
    """Have a subscription due again."""
    return Remedy(RemedyAction.RESUME, Noun.SUBSCRIPTION, str(subscription_id))


def resume_webhook(webhook_id: UUID) -> Remedy:
    """Send to a webhook again."""
    return Remedy(RemedyAction.RESUME, Noun.WEBHOOK, str(webhook_id))


def change_setting(name: str) -> Remedy:
    """Set an environment variable where the workers run, and restart them."""
    return Remedy(RemedyAction.CHANGE_SETTING, Noun.SETTING, name)


def remedies_of(
    problem: Mapping[str, Any] | None, *, run_id: UUID | None, batch_id: UUID
) -> tuple[Remedy, ...]:
    """The remedies of a stored error, or of a reason why runs of a batch stopped.

    Empty for rows of earlier versions; unknown ones of later versions are left out. For a batch, those
    that suit a single run are left out.
    """
    stored = (problem or {}).get("remedies") or ()
    return tuple(
        Remedy.of_json(members).resolve(run_id=run_id, batch_id=batch_id)
        for members in stored
        if members["action"] in set(RemedyAction) and members["noun"] in set(Noun)
        if run_id is not None or not _is_of_one_run(problem or {}, members)
    )


def _is_of_one_run(problem: Mapping[str, Any], remedy: Mapping[str, Any]) -> bool:
    """Whether it suits a single run: a message, or a higher budget of that run."""
    is_own_budget = problem.get("kind") == "budget" and remedy["noun"] == Noun.RUN
    return bool(is_own_budget or remedy["action"] == RemedyAction.SAY)


def describe(problem: Mapping[str, Any], *, run_id: UUID | None, batch_id: UUID) -> dict[str, Any]:
    """A stored error, or a reason, for readers: its remedies with their words and their targets."""
    remedies = remedies_of(problem, run_id=run_id, batch_id=batch_id)
    return {name: value for name, value in problem.items() if name != "remedies"} | described(remedies)


def described(remedies: Sequence[Remedy]) -> dict[str, Any]:
    """As `as_json`, with the words of each."""
    rendered = [remedy.as_json() | {"words": remedy.words} for remedy in remedies]
    return {"remedies": rendered} if rendered else {}


def as_json(remedies: Sequence[Remedy]) -> dict[str, Any]:
    """The member `remedies` of an error or an event; nothing where there are none."""
    return {"remedies": [remedy.as_json() for remedy in remedies]} if remedies else {}
