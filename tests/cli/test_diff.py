"""`chiron diff` as a person types it."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result
from support.backdated_facts import Dated, day

from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

Chiron = Callable[..., Result]
Rows = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def ice(settings: Settings) -> None:
    """A subject of which a little is known on day 1, and more or otherwise on day 11."""

    async def write() -> None:
        async with open_pool(settings.database_url, size=2) as pool:
            dated = await Dated(pool).begin()
            four = await dated.fact("Four metres thick.", at=1, status="disputed", confidence=0.45)
            await dated.was(four, 0.9, "accepted", until=11, reason="contradicted by a fact")
            five = await dated.fact("Five metres\x1b[2J thick.", at=11, confidence=0.81)
            await dated.contradict(five, four, at=11)
            floats = await dated.fact("It floats.", at=1)
            await dated.corroborate(floats, "https://b.org/floats", at=12)
            await dated.fact("Perhaps blue.", at=12, status="candidate", confidence=0.3)

    asyncio.run(write())


SINCE = ("diff", "--subject", "Ice", "--since", f"{day(10):%Y-%m-%dT%H:%M%z}")


def test_it_tells_what_is_different_kind_by_kind(chiron: Chiron, ice: None) -> None:
    told = chiron(*SINCE)
    assert told.exit_code == 0, told.output
    for words in (
        "ice, 2025-03-1",
        "\nNew (1)\n  0.81  Five metres thick.\n",
        "\nChanged (1)\n  0.90 -> 0.45 (accepted -> disputed)  Four metres thick.\n",
        "        contradicted by a fact\n",
        "\nCorroborated (1)\n  0.90  It floats.\n        https://b.org/floats\n",
        "\nContradicted (1)\n  Five metres thick.\n",
        "  against: Four metres thick.\n",
        "\n1 new candidate, out of sight",
    ):
        assert words in told.output, told.output
    found = json.loads(chiron(*SINCE, "--json").stdout)
    assert found["counts"]["new"] == found["counts"]["changed"] == 1
    assert (found["subject_id"], found["is_empty"], found["new"][0]["confidence_before"]) == (
        "ice",
        False,
        None,
    )


def test_nothing_is_different_says_so(chiron: Chiron, ice: None) -> None:
    told = chiron(*SINCE[:-1], f"{day(30):%Y-%m-%d}", "--until", f"{day(40):%Y-%m-%d}")
    assert (told.exit_code, "Nothing is different." in told.output) == (0, True)


def test_two_batches_are_compared_by_their_ends(chiron: Chiron, rows: Rows, ice: None) -> None:
    ids = [
        json.loads(chiron("submit", "ice", "--subject", "Ice", "--json").stdout)["batch_id"] for _ in range(3)
    ]
    unfinished = chiron("diff", ids[0], ids[1])
    assert (unfinished.exit_code, "is not finished" in unfinished.output) == (1, True)
    for batch_id, at in zip(ids[:2], (day(5), day(15)), strict=True):
        rows("update batches set finished_at = %s where id = %s returning 1", at, batch_id)
    found = json.loads(chiron("diff", *ids[:2], "--json").stdout)
    assert (found["since"], found["until"]) == (day(5).isoformat(), day(15).isoformat())
    assert found["counts"]["new"] == 1
    swapped = chiron("diff", ids[1], ids[0])
    assert (swapped.exit_code, "give the earlier one first" in swapped.output) == (2, True)
    rows("insert into subjects (id, title) values ('sea', 'Sea') returning 1")
    rows("update batches set subject_id = 'sea' where id = %s returning 1", ids[1])
    assert "different subjects, ice and sea" in chiron("diff", *ids[:2]).output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "Give two batches, or a subject and a time"),
        (("--subject", "Ice"), 2, "Give two batches, or a subject and a time"),
        (("x",), 2, "Give two batches, the earlier one first"),
        (("x", "y"), 2, "'x' is no id"),
        (("x", "y", "--subject", "Ice"), 2, "not both"),
        (("--subject", "Ice", "--since", "soon"), 2, "must be a time such as"),
        (("--subject", "Sea", "--since", "2025-03-01"), 1, "There is no subject 'sea'"),
        (("--subject", "?", "--since", "2025-03-01"), 2, "must be a name"),
        (("--subject", "Ice", "--since", "2099-03-01"), 2, "has no length"),
        (
            ("0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa", "0198c0de-7a3b-7c11-9d52-3f6a51e0b7ab"),
            1,
            "There is no batch",
        ),
    ],
)
def test_a_wrong_call_is_one_sentence(
    chiron: Chiron, ice: None, arguments: tuple[str, ...], code: int, words: str
) -> None:
    failed = chiron("diff", *arguments)
    assert (failed.exit_code, words in failed.output) == (code, True), failed.output
