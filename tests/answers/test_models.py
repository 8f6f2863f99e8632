"""The models of the client know the words of the engine without importing it."""

from enum import StrEnum
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from support import bare_interpreter

from chiron_api.answers import basics, differences, events, facts, reports, subjects
from chiron_workers import states
from chiron_workers.runs.event_fields import FIELDS


@pytest.mark.parametrize(
    ("words", "enumeration"),
    [
        (basics.RunState, states.RunState),
        (facts.FactStatus, states.FactStatus),
        (facts.QuoteState, states.QuoteState),
        (facts.Verdict, states.Verdict),
        (facts.Ground, states.Ground),
        (facts.SourceKind, states.SourceKind),
        (subjects.Subscription.model_fields["state"].annotation, states.SubscriptionState),
        (differences.SourceDifference.model_fields["kind"].annotation, states.ChangeKind),
        (reports.Relative.model_fields["relation"].annotation, states.Relation),
        (reports.ReportContradiction.model_fields["decided_by"].annotation, states.Decider),
    ],
)
def test_the_words_of_a_field_are_those_of_the_engine(words: Any, enumeration: type[StrEnum]):
    assert set(get_args(words)) == {word.value for word in enumeration}


def kinds() -> dict[str, type[BaseModel]]:
    """The class of each kind of event."""
    classes = get_args(get_args(events.AnyEvent)[0])
    return {get_args(event.model_fields["kind"].annotation)[0]: event for event in classes}


def test_every_kind_of_event_has_a_class():
    assert set(kinds()) == {kind.value for kind in states.EventKind}


@pytest.mark.parametrize("kind", states.EventKind)
def test_the_data_of_an_event_has_the_fields_of_the_page_of_events(kind: states.EventKind):
    data = kinds()[kind].model_fields["data"].annotation
    assert data is not None
    assert issubclass(data, BaseModel)
    assert set(data.model_fields) == set(FIELDS[kind])


def test_the_models_import_nothing_else_of_chiron():
    program = """
import pkgutil, importlib
import chiron_api.answers as models
for module in pkgutil.iter_modules(models.__path__):
    importlib.import_module(f"{models.__name__}.{module.name}")
"""
    modules = bare_interpreter.run(program).modules
    ours = {name for name in modules if name.startswith(("chiron_api", "chiron_workers"))}
    assert "chiron_api.answers.events" in ours
    assert all(name == "chiron_api" or name.startswith("chiron_api.answers") for name in ours)
