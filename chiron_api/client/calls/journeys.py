"""Journeys: begin to learn a subject, see where you stand, go on."""

from chiron_api.answers.journeys import Journey, JourneyList
from chiron_api.client.call import Call, fields, get
from chiron_api.client.calls.batches import Money
from chiron_api.client.targets import Id


def start_journey(
    subject: str,
    goal: str,
    *,
    depth: str | None = None,
    model: str | None = None,
    budget_usd: Money | None = None,
    facts_min: int | None = None,
    again: bool = False,
) -> Call[Journey]:
    """Begin to learn a subject, by any name, or have your journey go on that stands still; workers do the rest.

    Args:
        depth: How deeply: overview, practical, expert, or other words.
        budget_usd: What it may cost as a whole; it stands still there.
        facts_min: Accepted facts that a node needs, from two origins.
        again: Map the goal anew, and try nodes again that gained nothing.
    """
    body = fields(
        goal=goal, depth=depth, model=model, budget_usd=budget_usd, facts_min=facts_min, again=again
    )
    path = "/v1/subjects/{id}/journey"
    return Call("POST", path, Journey, target=subject, body=body, is_repeatable=not again)


def journey(subject: str) -> Call[Journey]:
    """Where you stand on the way through a subject, what it cost so far and what comes next."""
    return get("/v1/subjects/{id}/journey", Journey, target=subject)


def journeys() -> Call[list[Journey]]:
    """Your journeys, the one that moved last first."""
    return get("/v1/journeys", JourneyList, part="items")


def finish_lesson(journey: Id | Journey) -> Call[Journey]:
    """Say that you have read the lesson that waited; the questions about it come next."""
    return Call("POST", "/v1/journeys/{id}/read", Journey, target=_journey_id(journey))


def resume_journey(journey: Id | Journey, *, budget_usd: Money | None = None) -> Call[Journey]:
    """Have a journey go on that was stopped, paused or failed.

    Args:
        budget_usd: What it may cost as a whole from now on.
    """
    body = fields(budget_usd=budget_usd)
    return Call("POST", "/v1/journeys/{id}/resume", Journey, target=_journey_id(journey), body=body)


def stop_journey(journey: Id | Journey) -> Call[Journey]:
    """Stop a journey and cancel what it has under way. What was found and learnt stays."""
    return Call("POST", "/v1/journeys/{id}/stop", Journey, target=_journey_id(journey))


def _journey_id(journey: Id | Journey) -> str:
    return str(journey.journey_id if isinstance(journey, Journey) else journey)
