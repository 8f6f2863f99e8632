"""The methods of both clients. Written by `docs/generate.py` from `chiron_api.acts`."""

from chiron_api.client import derived_calls as calls
from chiron_api.client.methods import ListMethod, Method


class ActMethods:
    """A method for each act."""

    batch = Method(calls.batch)
    batches = ListMethod(calls.batches)
    cancel = Method(calls.cancel)
    delete = Method(calls.delete)
    fact = Method(calls.fact)
    pause = Method(calls.pause)
    reinstate = Method(calls.reinstate)
    resume = Method(calls.resume)
    retry = Method(calls.retry)
    run = Method(calls.run)
    runs = ListMethod(calls.runs)
    say = Method(calls.say)
    start = Method(calls.start)
    submit = Method(calls.submit)
    withdraw = Method(calls.withdraw)
