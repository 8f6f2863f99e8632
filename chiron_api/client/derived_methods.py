"""The methods of both clients. Written by `docs/generate.py` from `chiron_api.acts`."""

from chiron_api.client import derived_calls as calls
from chiron_api.client.methods import ListMethod, Method


class ActMethods:
    """A method for each act."""

    cancel = Method(calls.cancel)
    check = Method(calls.check)
    create_subject = Method(calls.create_subject)
    difference = Method(calls.difference)
    documents = Method(calls.documents)
    fact = Method(calls.fact)
    order_recheck = Method(calls.order_recheck)
    pause = Method(calls.pause)
    recheck = Method(calls.recheck)
    reinstate = Method(calls.reinstate)
    resume = Method(calls.resume)
    retry = Method(calls.retry)
    save_goal = Method(calls.save_goal)
    search = Method(calls.search)
    skills = Method(calls.skills)
    subject = Method(calls.subject)
    subject_facts = ListMethod(calls.subject_facts)
    subjects = Method(calls.subjects)
    tools = Method(calls.tools)
    withdraw = Method(calls.withdraw)
