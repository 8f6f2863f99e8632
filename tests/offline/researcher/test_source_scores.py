"""What the address of a source tells of it."""

import pytest

from chiron_workers.offline.researcher.source_scores import source_score


@pytest.mark.parametrize(
    ("url", "score"),
    [
        ("https://arxiv.org/abs/1", 0.95),
        ("https://www.uni.ac.uk/x", 0.7),
        ("https://docs.python.org/3/", 0.85),
        ("notes:lamp/oil", 0.85),
        ("https://docs.lamp.org/oil", 0.5),
        ("https://lamp.org/oil", 0.5),
        ("https://www.reddit.com/r/lamps", 0.3),
        ("https://forum.lamp.org/oil", 0.3),
    ],
)
def test_an_address_tells_how_far_its_source_is_trusted(url: str, score: float) -> None:
    assert source_score(url) == score
