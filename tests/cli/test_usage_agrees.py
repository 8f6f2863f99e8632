"""Token sums and costs agree everywhere, on a run with cache reads and writes, a question of a tool, and a price or none."""

import asyncio
import json
from typing import Any
from uuid import UUID

import pytest
from support.api_server import keyed_client
from support.run_harness import Stage
from support.scripted_model import Says, call, text, turn

from chiron_api.cli.display.board import Board
from chiron_api.mcp_server.research import describe
from chiron_api.services import open_services
from chiron_workers.batches.summaries import find
from chiron_workers.runs.events import Event
from chiron_workers.states import EventKind
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

TOKENS = ("input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens")
# Three replies: the opening, the answer to the tool's question, the end.
SUMS = dict(zip(TOKENS, (1_350, 5_500, 4_000, 320), strict=True))
SENTENCE = "1,350 fresh, 4,000 cache read, 5,500 cache write, 320 out"


def script(request: dict[str, Any]) -> Says:
    if not request.get("tools"):
        return Says((text("yes"),), usage={"input_tokens": 50, "output_tokens": 10})
    if turn(request) == 0:
        usage = {"input_tokens": 1_000, "output_tokens": 200, "cache_creation_input_tokens": 5_000}
        written = {"ephemeral_5m_input_tokens": 4_000, "ephemeral_1h_input_tokens": 1_000}
        return Says((call("ask_once"),), "tool_use", usage | {"cache_creation": written})
    usage = {"input_tokens": 300, "output_tokens": 110, "cache_creation_input_tokens": 500}
    return Says((text("The end."),), usage=usage | {"cache_read_input_tokens": 4_000})


async def played(stage: Stage) -> UUID:
    @tool
    async def ask_once(store: Store) -> str:
        """Ask the model a question."""
        assert store.side_model is not None
        return (await store.side_model.ask("Is it so?", tools=[], max_tokens=9)).text

    stage.registry.register(ask_once)
    await stage.model(script)
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    assert (await stage.row(run_id))["state"] == "completed"
    return run_id


async def every_view(stage: Stage, run_id: UUID, chiron) -> dict[str, dict[str, Any]]:
    """What each place says of the run, or of its batch, which has no other run."""

    async def said(*arguments: str) -> Any:
        outcome = await asyncio.to_thread(chiron, *arguments)
        assert outcome.exit_code == 0, outcome.output
        return json.loads(outcome.stdout)

    batch_id = str((await stage.row(run_id))["batch_id"])
    async with keyed_client(stage.settings) as client:

        async def answered(path: str) -> Any:
            answer = await client.get(path)
            assert answer.status_code == 200, answer.text
            return answer.json()

        over_http = {
            "HTTP run": await answered(f"/v1/runs/{run_id}"),
            "HTTP batch": await answered(f"/v1/batches/{batch_id}"),
            "HTTP list": (await answered("/v1/batches?limit=1"))["items"][0],
            "HTTP results": await answered(f"/v1/batches/{batch_id}/results"),
            "HTTP report": (await answered(f"/v1/batches/{batch_id}/report?format=json"))["work"],
        }
    work = (await said("report", str(run_id), "--format", "json"))["work"]
    return over_http | {
        "show RUN": await said("show", str(run_id), "--json"),
        "show BATCH": await said("show", batch_id, "--json"),
        "list": await said("list", "--limit", "1", "--json"),
        "results": await said("results", batch_id, "--json"),
        "report": work,
        "report of the model": work["models"][0],
        "report of the run": work["runs"][0],
        "MCP run": await described(stage, str(run_id)),
        "MCP batch": await described(stage, batch_id),
    }


async def described(stage: Stage, id: str) -> dict[str, Any]:
    """A run or a batch as MCP has it."""
    async with open_services(stage.settings, pool_size=1) as services:
        return await describe(services, await find(services.pool, id))


async def board_of(stage: Stage, run_id: UUID) -> Board:
    board = Board("tides")
    for row in await stage.rows("select * from events where run_id = %s order by seq", run_id):
        kind = EventKind(row["kind"])
        board.apply(Event(row["batch_id"], run_id, row["seq"], kind, row["at"], row["data"]))
    return board


async def test_token_sums_and_costs_agree_everywhere(stage: Stage, chiron) -> None:
    run_id = await played(stage)
    views = await every_view(stage, run_id, chiron)
    assert {name: {key: view[key] for key in TOKENS} for name, view in views.items()} == dict.fromkeys(
        views, SUMS
    )
    # $4 fresh, $5 and $8 written for five minutes and an hour, $0.20 read, $20 out.
    cost = (1_350 * 4 + 4_500 * 5 + 1_000 * 8 + 4_000 * 0.2 + 320 * 20) / 1_000_000
    assert {name: view["spent_usd"] for name, view in views.items()} == dict.fromkeys(
        views, pytest.approx(cost)
    )
    board = await board_of(stage, run_id)
    assert {name: getattr(board.usage, name) for name in TOKENS} == SUMS
    assert board.usage.cost_usd == pytest.approx(cost)
    [row] = await stage.rows("select spent_tokens, (select spent_tokens from batches) as of_batch from runs")
    assert row == {"spent_tokens": sum(SUMS.values()), "of_batch": sum(SUMS.values())}


async def test_token_sums_agree_in_words(stage: Stage, chiron) -> None:
    run_id = await played(stage)
    for arguments in (("show", str(run_id)), ("show", "last"), ("watch", str(run_id)), ("watch", "last")):
        assert SENTENCE in (await asyncio.to_thread(chiron, *arguments)).stdout, arguments
    report = (await asyncio.to_thread(chiron, "report", str(run_id), "--format", "md")).stdout
    assert f"tokens: {SENTENCE}" in report
    assert f"{sum(SUMS.values()):,} tokens, run {run_id}" in report


async def test_an_unknown_cost_is_unknown_everywhere(stage: Stage, chiron, unpriced: str) -> None:
    stage.model_name = unpriced
    run_id = await played(stage)
    views = await every_view(stage, run_id, chiron)
    for name, view in views.items():
        money = (view["spent_usd"], view["spent_usd_min"], view["unpriced_calls"])
        assert money == (None, 0, 3), name
    assert (await board_of(stage, run_id)).usage.cost == "cost unknown"
    for arguments in (
        ("show", str(run_id)), ("show", "last"), ("list",), ("results", "last"), ("watch", "last"),
        ("show", str(run_id), "--transcript"), ("logs", str(run_id)), ("watch", str(run_id)),
        ("report", str(run_id), "--format", "md"), ("report", str(run_id), "--format", "html"),
    ):  # fmt: skip
        said = (await asyncio.to_thread(chiron, *arguments)).stdout
        assert "unknown" in said, arguments
        assert "$0.00" not in said, arguments


async def test_of_a_cost_that_is_known_in_part_the_least_is_said(stage: Stage, chiron, unpriced: str) -> None:
    await played(stage)
    await stage.rows("update runs set unpriced_calls = 1, spent_usd = 1.5, unconfirmed_calls = 1 returning 1")
    said = (await asyncio.to_thread(chiron, "show", "last")).stdout
    assert "unknown, at least $1.50 of $20.00" not in said  # the batch has no budget
    assert (
        "cost     unknown, at least $1.50; an unknown amount unconfirmed, for 1 call whose reply is lost"
        in said
    )
