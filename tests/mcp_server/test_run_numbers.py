"""What MCP says of runs by their numbers, and of a batch before it is paid."""

import json
from typing import Any

from mcp import Client
from mcp_server.conftest import Talking

TOPICS = ["Ice", {"topic": "Snow", "context": "Of lakes."}]


async def call(client: Client, name: str, **arguments: Any) -> Any:
    result = await client.call_tool(name, arguments)
    [block] = result.content
    assert not result.is_error, block.text
    return json.loads(block.text)


async def test_runs_are_named_by_their_numbers_and_a_new_subject_is_told(talking: Talking) -> None:
    async with talking(CHIRON_MODEL="offline") as client:
        receipt = await call(client, "start_research", topics=TOPICS, subject="Water")
        assert receipt["new_subjects"] == [{"subject_id": "water", "similar": []}]
        batch = await call(client, "get_run", id=receipt["batch_id"])
        assert [run["run_number"] for run in batch["first_runs"]] == [1, 2]
        run = await call(client, "get_run", id=f"{receipt['batch_id']}#2")
        assert (run["id"], run["run_number"], run["context"]) == (receipt["run_ids"][1], 2, "Of lakes.")
        assert (await call(client, "get_run", id="last#1"))["id"] == receipt["run_ids"][0]
        refusal = await client.call_tool("cancel_run", {"id": "last#1"})
        assert refusal.is_error  # what the last one is may change
        assert (await call(client, "cancel_run", id=f"{receipt['batch_id']}#1"))["cancelled"] == 1
        report = await call(client, "get_report", id=f"{receipt['batch_id']}#2")
        assert "Snow" in report["text"]
        again = await call(client, "start_research", topics=["Ice", "ice."], subject="Waters")
        assert again["new_subjects"][0]["similar"] == [{"subject_id": "water", "documents": 0}]
        assert again["repetitions"] == [{"topic": "Ice", "numbers": [1, 2]}]
