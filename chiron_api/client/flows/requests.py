"""Flows of one value: a request with its repetitions, and waiting for an end."""

import time
from typing import Any

from chiron_api.client.call import Call, Value, Wait
from chiron_api.client.errors import StillOpen
from chiron_api.client.flows.failures import error_of, may_repeat
from chiron_api.client.flows.patience import Patience
from chiron_api.client.flows.steps import Answer, Cut, Flow, Pause, Send
from chiron_api.client.server import Server

IN_MOTION = frozenset({"queued", "running"})
FIRST_LOOK_S, LOOKS_APART_MAX_S = 0.5, 5.0


def request(server: Server, call: Call[Value]) -> Flow[Value]:
    """The value of a call.

    Raises:
        ChironError: The server refuses it, or cannot be reached for longer than its patience.
    """
    answer = yield from answered(server, Send(call), Patience(server.patience_s))
    return call.parse(answer.body)


def answered(server: Server, step: Send, patience: Patience) -> Flow[Answer]:
    """A good answer, after as many repetitions as are safe and as the patience allows. Raises ChironError."""
    while True:
        outcome: Answer | Cut = yield step
        if isinstance(outcome, Answer):
            server.has_answered = True
            if outcome.is_good:
                return outcome
        error = error_of(outcome, step.call, server)
        if not may_repeat(outcome, step.call, server):
            raise error
        yield Pause(patience.delay_s(error))


def wait_for_end(server: Server, wait: Wait[Any]) -> Flow[Any]:
    """The batch or the run at its end. Raises StillOpen."""
    call, timeout_s = wait.call, wait.timeout_s
    until = None if timeout_s is None else time.monotonic() + timeout_s
    interval_s = FIRST_LOOK_S
    while True:
        target = yield from request(server, call)
        if target.state not in IN_MOTION:
            return target
        if until is not None and time.monotonic() + interval_s > until:
            raise StillOpen(f"{call.location} is still {target.state} after {timeout_s:g} s; it goes on.")
        yield Pause(interval_s)
        interval_s = min(LOOKS_APART_MAX_S, interval_s * 1.5)
