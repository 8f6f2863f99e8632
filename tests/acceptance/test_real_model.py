"""Runs of a real model: llama.cpp's server, which nobody here wrote, where other tests have a scripted one."""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from support.llama_server import LlamaServer, llama_server, needs_llama
from support.worker_processes import chiron, rows, running, wait_until

from benchmarks.crashes.consistency import among_rows, snapshot
from chiron_workers.settings import Settings
from chiron_workers.states import FINAL_STATES, RunState

pytestmark = [needs_llama]
WINDOW_TOKENS = 4_096
# One model by several names, of which each has a price of its own.
PRICES = {
    "free": {"input": 0, "output": 0},
    "priced": {"input": 3, "output": 15, "cache_read": 0.3},
    "unpriced": "none",
    "too-long": {"input": 3, "output": 15},
}
MAX_TURNS = 4
SETTLED = [*FINAL_STATES, RunState.PAUSED]
Row = dict[str, Any]


def test_runs_of_a_real_model_end_and_cost_what_its_server_counts(settings: Settings, tmp_path: Path) -> None:
    with llama_server(context_tokens=WINDOW_TOKENS) as server:
        runs = play(settings, server, tmp_path)
        tokens = counted_tokens(server)
    refused = runs.pop("too-long")
    for run in runs.values():
        assert run["error"] is None or run["error"]["kind"] == "max_turns", run
        assert 1 <= run["turns"] <= MAX_TURNS, run
        assert run["input_tokens"] > 0 and run["output_tokens"] > 0, run
    assert {name: sum(run[name] for run in runs.values()) for name in tokens} == tokens
    assert_cost(**runs)
    assert_refusal(refused)
    assert rows(settings, "select 1 from tool_results"), "no tool was called"
    with snapshot(settings.database_url) as connection:
        assert list(among_rows(connection)) == []


def play(settings: Settings, server: LlamaServer, folder: Path) -> dict[str, Row]:
    """Submit a run by each name of the model and have a worker play them; the rows of the runs by name."""
    env = environment(server, write_role(folder / "roles"))
    topics = str(write_topics(folder / "topics.jsonl"))
    arguments = ("--file", topics, "--subject", "Sea ice", "--max-turns", str(MAX_TURNS))
    with running(settings, **env) as worker:
        submitted = chiron(settings, "submit", *arguments, **env)
        assert submitted.returncode == 0, submitted.stderr
        settled = "select 1 from runs where state = any(%s) having count(*) = %s"
        wait_until(lambda: rows(settings, settled, [SETTLED, len(PRICES)]), what="the end of all runs")
        assert worker.stop() == 0
    assert not worker.has_said("Traceback")
    return {row["model"]: row for row in rows(settings, "select * from runs")}


def environment(server: LlamaServer, roles: Path) -> dict[str, str]:
    """What docs/models.md says of other servers, with a window that is larger than the server's."""
    return {
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "none",
        "CHIRON_CONTEXT_TOKENS": json.dumps(dict.fromkeys(PRICES, 2 * WINDOW_TOKENS)),
        "CHIRON_PRICES": json.dumps(PRICES),
        "CHIRON_MAX_TOKENS": "64",
        "CHIRON_ROLES": str(roles),
    }


def write_role(folder: Path) -> Path:
    """A role with one tool: the prompt of the role research takes this model minutes to read."""
    (role := folder / "guide").mkdir(parents=True)
    (role / "role.toml").write_text('tools = ["list_subjects"]\n')
    (role / "prompt.md").write_text("You answer questions about $subject.\n")
    (role / "question.md").write_text("$topic\n")
    return folder


def write_topics(file: Path) -> Path:
    """A topic for each name of the model; one is played with all tools, which do not fit the server's window."""
    topics = [
        {"topic": "What is ice?", "model": name, "role": "research" if name == "too-long" else "guide"}
        for name in PRICES
    ]
    file.write_text("".join(f"{json.dumps(topic)}\n" for topic in topics))
    return file


def counted_tokens(server: LlamaServer) -> dict[str, int]:
    """Tokens of prompts that the server has read, without those of its cache, and tokens that it has written."""
    with urlopen(f"{server.url}/metrics") as answer:
        metrics = answer.read().decode()
    names = {"input_tokens": "prompt_tokens_total", "output_tokens": "tokens_predicted_total"}
    return {
        name: int(re.findall(rf"^llamacpp:{metric} (\d+)$", metrics, re.MULTILINE)[0])
        for name, metric in names.items()
    }


def assert_cost(free: Row, priced: Row, unpriced: Row) -> None:
    costs = [(run["spent_usd"], run["unpriced_calls"]) for run in (free, unpriced)]
    assert costs == [(0, 0), (0, unpriced["turns"])]
    usd_per_token = {"input_tokens": "3e-6", "output_tokens": "15e-6", "cache_read_tokens": "0.3e-6"}
    cost_usd = sum(priced[name] * Decimal(price) for name, price in usd_per_token.items())
    assert abs(priced["spent_usd"] - cost_usd) <= Decimal("1e-6") * MAX_TURNS  # each call is rounded
    assert (priced["unpriced_calls"], priced["unconfirmed_usd"]) == (0, 0)


def assert_refusal(run: Row) -> None:
    """The server's own words and numbers are the run's error, and nothing was billed."""
    assert (run["state"], run["error"]["kind"]) == ("failed", "context_window")
    assert re.search(rf"\(\d+ tokens\) exceeds .* \({WINDOW_TOKENS} tokens\)", run["error"]["message"])
    assert (run["turns"], run["spent_tokens"], run["unconfirmed_calls"]) == (0, 0, 0)
