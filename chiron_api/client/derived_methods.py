"""The methods of both clients. Written by `docs/generate.py` from `chiron_api.acts`."""

from chiron_api.client import derived_calls as calls
from chiron_api.client.methods import Method


class ActMethods:
    """A method for each act."""

    cancel = Method(calls.cancel)
    decide_proposal = Method(calls.decide_proposal)
    fact = Method(calls.fact)
    finish_lesson = Method(calls.finish_lesson)
    journey = Method(calls.journey)
    journeys = Method(calls.journeys)
    order_curriculum = Method(calls.order_curriculum)
    order_research = Method(calls.order_research)
    pause = Method(calls.pause)
    progress = Method(calls.progress)
    proposals = Method(calls.proposals)
    reinstate = Method(calls.reinstate)
    resume = Method(calls.resume)
    resume_journey = Method(calls.resume_journey)
    retry = Method(calls.retry)
    start_journey = Method(calls.start_journey)
    stop_journey = Method(calls.stop_journey)
    withdraw = Method(calls.withdraw)
