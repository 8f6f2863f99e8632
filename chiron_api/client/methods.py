"""All methods of both clients: of acts, and of what is no act."""

from chiron_api.client import calls
from chiron_api.client.derived_methods import ActMethods
from chiron_api.client.descriptors import EventMethod, ListMethod, Method


class Methods(ActMethods):
    """A method for each act, and one for each call besides."""

    add_document = Method(calls.add_document)
    call_tool = Method(calls.call_tool)
    events = EventMethod(calls.events)
    health = Method(calls.health)
    readiness = Method(calls.readiness)
    results = ListMethod(calls.results)
    wait = Method(calls.wait)
    wait_for_run = Method(calls.wait_for_run)
