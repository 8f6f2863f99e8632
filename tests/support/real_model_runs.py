"""Runs of a real model by a worker: submitted, played, and what is shown of them."""

import asyncio
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from chiron_workers.settings import Settings
from chiron_workers.states import FINAL_STATES, RunState
from support.api_server import keyed_client
from support.llama_server import LlamaServer
from support.worker_processes import chiron, rows, running, wait_until

MAX_TURNS = 4
PRICE = {"input": 3, "output": 15, "cache_read": 0.3}
USD_PER_TOKEN = {"input_tokens": "3e-6", "output_tokens": "15e-6", "cache_read_tokens": "0.3e-6"}
Row = dict[str, Any]
# Final, paused, or back in the queue since its model is unavailable.
SETTLED = """
    select count(*) as runs
      from runs
     where state = any(%s)
        or exists (select from events where run_id = runs.id and kind = 'run.handed_back')
"""


@dataclass(frozen=True, slots=True)
class Topic:
    """A run of the model of that name."""

    model: str
    role: str = "guide"
    budget_usd: float | None = None

    def options(self) -> dict[str, object]:
        """What `chiron submit --file` takes of it."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def environment(folder: Path, url: str, key: str, topics: Iterable[Topic], **more: str) -> dict[str, str]:
    """What docs/models.md says of other servers; the roles that a run may have are written to the folder."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": key,
        "CHIRON_PRICES": json.dumps({topic.model: PRICE for topic in topics}),
        "CHIRON_MAX_TOKENS": "64",
        "CHIRON_ROLES": str(write_role(folder / "roles")),
        **more,
    }


def write_role(folder: Path) -> Path:
    """A role with one tool: the prompt of the role research takes a small model minutes to read."""
    (role := folder / "guide").mkdir(parents=True, exist_ok=True)
    (role / "role.toml").write_text('tools = ["list_subjects"]\n')
    (role / "prompt.md").write_text("You answer questions about $subject.\n")
    (role / "question.md").write_text("$topic\n")
    return folder


def play(settings: Settings, folder: Path, topics: Iterable[Topic], env: Mapping[str, str]) -> dict[str, Row]:
    """Submit a run for each topic and have a worker play them until each is settled; their rows by model."""
    lines = [json.dumps({"topic": "What is ice?"} | topic.options()) for topic in topics]
    (file := folder / "topics.jsonl").write_text("\n".join(lines))
    arguments = ("--file", str(file), "--subject", "Sea ice", "--max-turns", str(MAX_TURNS))
    with running(settings, **env) as worker:
        submitted = chiron(settings, "submit", *arguments, **env)
        assert submitted.returncode == 0, submitted.stderr
        states = [*FINAL_STATES, RunState.PAUSED]
        wait_until(
            lambda: rows(settings, SETTLED, [states])[0]["runs"] == len(lines), what="the end of all runs"
        )
        assert worker.stop() == 0
    assert not worker.has_said("Traceback")
    return {row["model"]: row for row in rows(settings, "select * from runs")}


def counted_tokens(server: LlamaServer) -> dict[str, int]:
    """Tokens of prompts that the server has read, without those of its cache, and tokens that it has written."""
    headers = {"Authorization": f"Bearer {server.api_key}"}
    with urlopen(Request(f"{server.url}/metrics", headers=headers)) as answer:
        metrics = answer.read().decode()
    names = {"input_tokens": "prompt_tokens_total", "output_tokens": "tokens_predicted_total"}
    return {
        name: int(re.findall(rf"^llamacpp:{metric} (\d+)$", metrics, re.MULTILINE)[0])
        for name, metric in names.items()
    }


def assert_played(runs: Mapping[str, Row], server: LlamaServer) -> None:
    """Each run has ended by an answer or by its turns, and together they count what the server counted."""
    for run in runs.values():
        assert run["error"] is None or run["error"]["kind"] == "max_turns", run
        assert 1 <= run["turns"] <= MAX_TURNS, run
        assert run["input_tokens"] > 0 and run["output_tokens"] > 0, run
    tokens = counted_tokens(server)
    assert {name: sum(run[name] for run in runs.values()) for name in tokens} == tokens


def assert_priced(run: Row) -> None:
    """The run costs its tokens at PRICE."""
    cost_usd = sum(run[name] * Decimal(price) for name, price in USD_PER_TOKEN.items())
    assert abs(run["spent_usd"] - cost_usd) <= Decimal("1e-6") * MAX_TURNS  # each call is rounded
    assert (run["unpriced_calls"], run["unconfirmed_usd"]) == (0, 0)


def assert_free(run: Row) -> None:
    """Nothing of the run counts as paid, or as maybe paid."""
    sums = ("turns", "spent_usd", "spent_tokens", "unconfirmed_calls", "unconfirmed_usd", "reserved_usd")
    assert {name: run[name] for name in sums} == dict.fromkeys(sums, 0)


def assert_shown(settings: Settings, runs: Mapping[str, Row]) -> None:
    """`chiron results` and the HTTP API say of each run what its row has: state, reason, tokens and cost."""
    [batch_id] = {str(row["batch_id"]) for row in runs.values()}
    printed = chiron(settings, "results", batch_id, "--json")
    assert printed.returncode == 0, printed.stderr
    lines = [json.loads(line, parse_float=Decimal) for line in printed.stdout.splitlines()]
    assert lines == asyncio.run(read_results(settings, batch_id))
    shown = {line["id"]: line for line in lines}
    for row in runs.values():
        line = shown[str(row["id"])]
        kind = None if row["error"] is None else row["error"]["kind"]
        assert (line["state"], (line["error"] or {}).get("kind")) == (row["state"], kind)
        for name in (
            "input_tokens",
            "output_tokens",
            "cache_read_tokens",
            "unpriced_calls",
            "unconfirmed_calls",
        ):
            assert line[name] == row[name], name
        assert line["spent_usd"] == (None if row["unpriced_calls"] else row["spent_usd"])
        assert line["spent_usd_min"] == row["spent_usd"]


async def read_results(settings: Settings, batch_id: str) -> list[Any]:
    """The results of a batch over HTTP."""
    async with keyed_client(settings) as client:
        response = await client.get(f"/v1/batches/{batch_id}/results")
        assert response.status_code == 200, response.text
        return [json.loads(line, parse_float=Decimal) for line in response.text.splitlines()]
