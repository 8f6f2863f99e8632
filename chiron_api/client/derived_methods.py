"""The methods of both clients. Written by `docs/generate.py` from `chiron_api.acts`."""

from chiron_api.client import derived_calls as calls
from chiron_api.client.methods import Method


class ActMethods:
    """A method for each act."""

    answer_question = Method(calls.answer_question)
    cancel = Method(calls.cancel)
    decide_proposal = Method(calls.decide_proposal)
    fact = Method(calls.fact)
    finish_lesson = Method(calls.finish_lesson)
    journey = Method(calls.journey)
    journeys = Method(calls.journeys)
    order_curriculum = Method(calls.order_curriculum)
    order_questions = Method(calls.order_questions)
    order_research = Method(calls.order_research)
    pause = Method(calls.pause)
    progress = Method(calls.progress)
    proposals = Method(calls.proposals)
    quiz = Method(calls.quiz)
    reinstate = Method(calls.reinstate)
    resume = Method(calls.resume)
    resume_journey = Method(calls.resume_journey)
    retry = Method(calls.retry)
    settle_answer = Method(calls.settle_answer)
    start_journey = Method(calls.start_journey)
    start_quiz = Method(calls.start_quiz)
    stop_journey = Method(calls.stop_journey)
    withdraw = Method(calls.withdraw)
