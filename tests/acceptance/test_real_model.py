"""Runs of a real model: llama.cpp's server, which nobody here wrote, where other tests have a scripted one."""

import json
import re
from pathlib import Path

from support.llama_server import llama_server, needs_llama
from support.real_model_runs import (
    PRICE,
    Row,
    Topic,
    assert_free,
    assert_played,
    assert_priced,
    assert_shown,
    environment,
    play,
)
from support.worker_processes import rows

from benchmarks.crashes.consistency import among_rows, snapshot
from chiron_workers.settings import Settings

pytestmark = [needs_llama]
WINDOW_TOKENS = 4_096
# One model by several names, of which each has a price of its own.
TOPICS = (
    Topic("free"),
    Topic("priced"),
    Topic("unpriced"),
    Topic("too-dear", budget_usd=0.000001),
    Topic("too-long", role="research"),  # its tools do not fit the server's window
)
PRICES = {topic.model: PRICE for topic in TOPICS} | {"free": {"input": 0, "output": 0}, "unpriced": "none"}


def test_runs_of_a_real_model_end_and_cost_what_its_server_counts(settings: Settings, tmp_path: Path) -> None:
    with llama_server(context_tokens=WINDOW_TOKENS) as server:
        # The window that Chiron assumes is larger than the server's.
        windows = json.dumps({topic.model: 2 * WINDOW_TOKENS for topic in TOPICS})
        more = {"CHIRON_CONTEXT_TOKENS": windows, "CHIRON_PRICES": json.dumps(PRICES)}
        env = environment(tmp_path, server.url, "none", TOPICS, **more)
        runs = play(settings, tmp_path, TOPICS, env)
        assert_shown(settings, runs)
        assert_refusal(runs.pop("too-long"))
        assert_pause(runs.pop("too-dear"))
        assert_played(runs, server)
    assert_priced(runs["priced"])
    costs = [(runs[name]["spent_usd"], runs[name]["unpriced_calls"]) for name in ("free", "unpriced")]
    assert costs == [(0, 0), (0, runs["unpriced"]["turns"])]
    assert rows(settings, "select 1 from tool_results"), "no tool was called"
    with snapshot(settings.database_url) as connection:
        assert list(among_rows(connection)) == []


def assert_refusal(run: Row) -> None:
    """The server's own words and numbers are the run's error, and nothing was billed."""
    assert (run["state"], run["error"]["kind"]) == ("failed", "context_window")
    assert re.search(rf"\(\d+ tokens\) exceeds .* \({WINDOW_TOKENS} tokens\)", run["error"]["message"])
    assert_free(run)


def assert_pause(run: Row) -> None:
    assert (run["state"], run["error"]["kind"], run["error"]["budget"]) == ("paused", "budget", "run")
    assert_free(run)
