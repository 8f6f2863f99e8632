import json
import math
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from chiron_workers.runs.fence import LeasedRun, fence, json_text, numbered_events
from chiron_workers.states import EventKind


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("words", ["plain", "\ud800"])
def test_numbers_that_json_does_not_have_fail_where_their_text_is_made(number: float, words: str):
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"words": words, "deep": [number]})
    assert json.loads(json_text({"words": words, "deep": [1.5]}))["deep"] == [1.5]


def test_events_hold_no_password_and_no_key_of_an_address_and_are_else_as_they_were():
    run = LeasedRun(uuid4(), uuid4(), 1, uuid4())
    data = {
        "content": 'Quotes "stay", lines\ntoo.',
        "source_url": "https://me:TOPSECRET@a.org/x?y=1&token=TOPSECRET",
        "arguments": {"url": 'see "https://a.org/?api_key=TOPSECRET"', "n": 1},
    }
    events = [(EventKind.FACT_STORED, data), (EventKind.TOOL_CALLED, {"name": "x"})]
    row = {"seq_before": 0, "at": datetime.now(UTC)}
    stored = [json.loads(line) for line in fence(run, events)["datas"].split("\n")]
    assert stored == [event.data for event in numbered_events(run, row, events)]
    assert stored[0]["source_url"] == "https://a.org/x?y=1"
    assert stored[0]["content"] == data["content"]
    assert "TOPSECRET" not in str(stored)
