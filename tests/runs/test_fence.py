import json
import math

import pytest

from chiron_workers.runs.fence import json_text


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("words", ["plain", "\ud800"])
def test_numbers_that_json_does_not_have_fail_where_their_text_is_made(number: float, words: str):
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"words": words, "deep": [number]})
    assert json.loads(json_text({"words": words, "deep": [1.5]}))["deep"] == [1.5]
