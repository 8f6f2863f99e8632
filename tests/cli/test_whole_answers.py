"""An answer that came in parts is whole wherever it is read."""

import asyncio
import json
from collections.abc import Callable

from cli.test_usage_agrees import described
from support.api_server import keyed_client
from support.run_harness import Stage
from support.scripted_model import Says, says, text, turn
from typer.testing import Result

PARTS = ["The tides rise " + "and rise " * 50, "for the moon pulls ", "the water."]
ANSWER = "".join(PARTS)


async def test_an_answer_in_parts_is_whole_in_show_results_report_http_and_mcp(
    stage: Stage, chiron: Callable[..., Result]
) -> None:
    replies = [says(PARTS[0], stop="max_tokens"), Says((text(PARTS[1]),), stop="max_tokens"), says(PARTS[2])]
    await stage.model(lambda request: replies[turn(request)])
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    assert (await stage.row(run_id))["state"] == "completed"

    async def printed(*arguments: str) -> str:
        return (await asyncio.to_thread(chiron, *arguments)).stdout

    for arguments in (
        ("show", str(run_id)), ("results", "last"), ("report", str(run_id), "--format", "md"),
        ("report", str(run_id), "--format", "html"),
    ):  # fmt: skip
        assert " ".join(ANSWER.split()) in " ".join((await printed(*arguments)).split()), arguments
    assert json.loads(await printed("show", str(run_id), "--json"))["answer"] == ANSWER
    assert json.loads(await printed("results", "last", "--json"))["answer"] == ANSWER
    report = json.loads(await printed("report", str(run_id), "--format", "json"))
    assert report["unchecked_agent_words"] == ANSWER
    assert (await described(stage, str(run_id)))["answer"] == ANSWER
    async with keyed_client(stage.settings) as client:
        assert (await client.get(f"/v1/runs/{run_id}")).json()["answer"] == ANSWER
