"""The methods of both clients. Written by `docs/generate.py` from `chiron_api.acts`."""

from chiron_api.client import derived_calls as calls
from chiron_api.client.methods import ListMethod, Method


class ActMethods:
    """A method for each act."""

    cancel = Method(calls.cancel)
    fact = Method(calls.fact)
    lesson = Method(calls.lesson)
    lessons = Method(calls.lessons)
    pause = Method(calls.pause)
    reinstate = Method(calls.reinstate)
    report = Method(calls.report)
    resume = Method(calls.resume)
    retry = Method(calls.retry)
    rows = ListMethod(calls.rows)
    withdraw = Method(calls.withdraw)
    write_lesson = Method(calls.write_lesson)
    write_report = Method(calls.write_report)
