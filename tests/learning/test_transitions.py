"""The table of a journey: every event in every state either leads somewhere or is refused."""

import pytest

from chiron_workers.errors import Conflict
from chiron_workers.learning.transitions import HOLDS, TRANSITIONS, WORKING_STATES, next_state
from chiron_workers.states import JourneyEvent, JourneyState


def test_every_pair_that_is_not_in_the_table_is_refused():
    for state in JourneyState:
        for event in JourneyEvent:
            if (state, event) in TRANSITIONS:
                assert next_state(state, event) is TRANSITIONS[state, event]
            else:
                with pytest.raises(Conflict):
                    next_state(state, event)


def test_every_state_can_be_reached_and_left():
    assert set(TRANSITIONS.values()) == set(JourneyState)
    assert {state for state, _ in TRANSITIONS} == set(JourneyState)
    assert {event for _, event in TRANSITIONS} == set(JourneyEvent) - {JourneyEvent.RESUMED}


def test_cancel_pause_failure_and_empty_coverage_have_an_edge_wherever_runs_work():
    for state in WORKING_STATES:
        for event in (*HOLDS, JourneyEvent.CANCELLED):
            assert next_state(state, event) is JourneyState.IDLE


def test_what_was_held_goes_on_where_it_was():
    for state in set(JourneyState) - {JourneyState.IDLE}:
        assert next_state(JourneyState.IDLE, JourneyEvent.RESUMED, state) is state
        with pytest.raises(Conflict):
            next_state(state, JourneyEvent.RESUMED, state)
