"""Runs of a real model behind LiteLLM's proxy: each ends with an honest state, reason and cost, whatever stands behind it."""

import json
from pathlib import Path
from typing import Any

from support.litellm_proxy import LitellmProxy, litellm_proxy, needs_litellm
from support.llama_server import LlamaServer, llama_server, needs_llama
from support.loop_thread import LoopThread
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
from support.scripted_model import Says, scripted_model, text
from support.worker_processes import rows

from benchmarks.crashes.consistency import among_rows, snapshot
from chiron_workers.settings import Settings

pytestmark = [needs_llama, needs_litellm]
KEY = "sk-of-llama"
# The three ways in which LiteLLM reaches a server: as it is asked, or translated to an API of OpenAI's.
PLAYED = ("messages", "responses", "chat", "unpriced")
TOPICS = [Topic(name) for name in (*PLAYED, "without-counts", "refused", "dead")]
PRICES = {topic.model: PRICE for topic in TOPICS} | {"unpriced": "none"}


def behind_proxy(server: LlamaServer, silent_url: str) -> dict[str, dict[str, str]]:
    """The models of the proxy, as LiteLLM's `litellm_params`."""
    messages = {"model": f"anthropic/{server.model}", "api_base": server.url, "api_key": KEY}
    return {
        "messages": messages,
        "unpriced": messages,
        "responses": messages | {"model": f"openai/{server.model}", "api_base": f"{server.url}/v1"},
        "chat": messages | {"model": f"hosted_vllm/{server.model}", "api_base": f"{server.url}/v1"},
        "without-counts": messages | {"api_base": silent_url},
        "refused": messages | {"api_key": "sk-of-nobody"},
        "dead": messages | {"api_base": "http://127.0.0.1:9"},
    }


def test_runs_behind_litellm_end_with_an_honest_state_reason_and_cost(
    settings: Settings, tmp_path: Path
) -> None:
    thread = LoopThread()
    silent = scripted_model(lambda _: Says((text("Ice is cold."),), usage={}))
    try:
        with thread.entered(silent) as silent_server, llama_server(api_key=KEY) as server:
            with litellm_proxy(behind_proxy(server, silent_server.url)) as proxy:
                runs = play(settings, tmp_path, TOPICS, with_prices(tmp_path, proxy, proxy.key))
            assert_shown(settings, runs)
            assert_played({name: runs[name] for name in PLAYED}, server)
    finally:
        thread.close()
    for name in ("messages", "responses", "chat"):
        assert_priced(runs[name])
    assert (runs["unpriced"]["spent_usd"], runs["unpriced"]["unpriced_calls"]) == (
        0,
        runs["unpriced"]["turns"],
    )
    assert_counts_unknown(settings, runs["without-counts"])
    assert_waiting(settings, runs["refused"], "refuses the key (401)", "Invalid API Key")
    assert_waiting(settings, runs["dead"], "answers 500", "Cannot connect to host 127.0.0.1:9")
    holds = rows(settings, "select model, refused_at is not null as is_refusal from holds")
    assert holds == [{"model": "refused", "is_refusal": True}]
    with snapshot(settings.database_url) as connection:
        assert list(among_rows(connection)) == []


def test_a_key_that_litellm_does_not_know_holds_the_model(settings: Settings, tmp_path: Path) -> None:
    dead = {"model": "anthropic/nothing", "api_base": "http://127.0.0.1:9", "api_key": KEY}
    with litellm_proxy({"messages": dead}) as proxy:
        env = with_prices(tmp_path, proxy, "sk-of-nobody")
        runs = play(settings, tmp_path, [Topic("messages")], env)
    assert_shown(settings, runs)
    assert_waiting(settings, runs["messages"], "refuses the key (400)", "Check ANTHROPIC_API_KEY")
    assert rows(settings, "select model from holds where refused_at is not null") == [{"model": "messages"}]


def with_prices(folder: Path, proxy: LitellmProxy, key: str) -> dict[str, str]:
    more = {"CHIRON_PRICES": json.dumps(PRICES), "CHIRON_MODEL_TRIES": "1"}
    return environment(folder, proxy.url, key, TOPICS, **more)


def assert_counts_unknown(settings: Settings, run: Row) -> None:
    """LiteLLM passes on that there are no counts, so what was reserved is charged, and is shown as such."""
    assert (run["state"], run["answer"], run["turns"]) == ("completed", "Ice is cold.", 1)
    [event] = events(settings, run, "model.replied")
    assert event["usage_unknown"] is True
    assert run["spent_usd"] > 0
    assert (run["reserved_usd"], run["unconfirmed_calls"]) == (0, 0)


def assert_waiting(settings: Settings, run: Row, *reasons: str) -> None:
    """The run is in the queue again, has cost nothing, and its event has the words of the proxy."""
    assert (run["state"], run["error"]) == ("queued", None)
    assert_free(run)
    event = events(settings, run, "run.handed_back")[0]
    assert event["waits_for"] == "model"
    for reason in reasons:
        assert reason in event["reason"]


def events(settings: Settings, run: Row, kind: str) -> list[dict[str, Any]]:
    query = "select data from events where run_id = %s and kind = %s order by seq"
    return [row["data"] for row in rows(settings, query, [run["id"], kind])]
