"""Every route of the API, with bodies and queries that nobody would send; a new route or tool is among them by itself.

`CHIRON_SEED=N` plays another seed, and `CHIRON_FUZZ_EXAMPLES=N` sends more than a few to each.
"""

import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx2
import psycopg
import pytest
from hypothesis import HealthCheck, given
from hypothesis import seed as seeded
from hypothesis import settings as fuzzing
from hypothesis import strategies as st
from starlette.routing import Route
from support.api_server import api_client
from support.loop_thread import loop_thread

from chiron_api.acts.inputs import Input
from chiron_api.http.app import all_routes
from chiron_workers.settings import Settings
from chiron_workers.tools import registry

FEW, MANY = 2, int(os.environ.get("CHIRON_FUZZ_EXAMPLES", "12"))  # requests to each
CPU_S_MAX = 1.0
TRIES_MAX = 3  # a collection of garbage, or what is imported only now, is no fault of an answer
REFUSALS_OF_SERVERS = (503, 504)
OUTSIDE = {"web_search", "web_fetch"}  # that would call other machines


def fields_of(model: type[Input]) -> set[str]:
    """The names of the fields of a model and of all that inherit from it."""
    return set(model.model_fields).union(*(fields_of(heir) for heir in model.__subclasses__()))


@dataclass(frozen=True)
class Target:
    """A method and a path; `names` are those of fields that something may do with."""

    method: str
    path: str
    names: tuple[str, ...]


def targets() -> list[Target]:
    """Every method of every route of the app; calling a tool is one for each tool."""
    names = tuple(sorted(fields_of(Input)))
    found = []
    for route in all_routes():
        assert isinstance(route, Route), f"{route} is fuzzed by nothing: teach this test to"
        for method in sorted((route.methods or {"GET"}) - {"HEAD"}):
            if "{name}" not in route.path:
                found.append(Target(method, route.path, names))
                continue
            found += [
                Target(
                    method, route.path.replace("{name}", tool.name), tuple(tool.input_schema["properties"])
                )
                for tool in registry().all()
                if tool.name not in OUTSIDE
            ]
    return found


NAMES = ("moon", "Moon", "offline", "research", "UTC", "../..", "%", "corpus://x", "json", "docx", "obsidian")
NUMBERS = ("1e999", "-1", "NaN", "Infinity", "1e-400", "1_000", "٣", "true")
TIMES = ("2026-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "0 * * * *")
ODD_TEXTS = ("", "\0", "\ud800", "9" * 400, "x" * 5_000)
TEXTS = st.one_of(st.text(max_size=30), st.sampled_from((*NAMES, *NUMBERS, *TIMES, *ODD_TEXTS)))
SCALARS = st.one_of(
    TEXTS, st.none(), st.booleans(), st.integers(), st.integers(-3, 300), st.floats(),
    st.sampled_from([2**31, 2**63, -(2**63) - 1, 10**300, 1e308, 1e-308]), st.uuids().map(str),
)  # fmt: skip


def values(names: tuple[str, ...]) -> st.SearchStrategy[Any]:
    """JSON, whose members are often called as some that are known."""
    keys = st.one_of(st.sampled_from(names), TEXTS) if names else TEXTS
    inner: st.SearchStrategy[Any] = SCALARS
    for _ in range(3):
        inner = st.one_of(SCALARS, st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=8))
    return inner


def bodies(names: tuple[str, ...]) -> st.SearchStrategy[bytes]:
    """What is sent as a body: mostly an object with names that are known, at times something else."""
    members = st.dictionaries(st.sampled_from(names) if names else TEXTS, values(names), max_size=12)
    batch = st.fixed_dictionaries({"topics": st.lists(values(names), max_size=4), "subject": TEXTS})
    sent = st.one_of(members, st.builds(lambda some, more: {**some, **more}, members, batch), values(names))
    return st.one_of(sent.map(lambda value: json.dumps(value).encode()), st.binary(max_size=40))


def seeded_ids(client: Callable[..., httpx2.Response], settings: Settings) -> list[str]:
    """Ids of what there is, so that not every answer is that there is nothing."""
    batch = client("POST", "/v1/batches", json={"topics": ["Tides", "Ebb"], "subject": "Moon"}).json()
    made = {"topics": ["Tides"], "subject": "Moon", "cron": "0 0 1 1 *"}
    subscription = client("POST", "/v1/subscriptions", json=made).json()
    fact = {
        "content": "The tide rises twice a day.", "subject_id": "moon", "source_url": "https://a.example/",
        "source_score": 0.9, "topic_path": "tides", "confidence": 0.9,
    }  # fmt: skip
    stored = client("POST", "/v1/tools/store_knowledge", json=fact).json()
    with psycopg.connect(settings.database_url, autocommit=True) as connection:
        connection.execute("update runs set state = 'cancelled', finished_at = now() where topic = 'Ebb'")
    ids = [batch["batch_id"], *batch["run_ids"], subscription["id"], stored["result"]["fact_id"], "moon"]
    return [*ids, str(UUID(int=7)), "x"]


@pytest.mark.parametrize(
    ("examples", "part"),
    [
        (FEW, slice(0, None, 2)),
        (FEW, slice(1, None, 2)),
        pytest.param(MANY, slice(None), marks=pytest.mark.acceptance),
    ],
    ids=["few to one half", "few to the other half", "many"],
)
def test_no_route_breaks_or_computes_for_long_whatever_it_is_sent(
    settings: Settings, examples: int, part: slice, seed: int, setting: Callable[[str, str], None]
):
    keyless = settings.model_copy(update={"api_without_key": True})
    with loop_thread() as loop, loop.entered(api_client(keyless)) as api:

        async def send(method: str, path: str, **parts: Any) -> httpx2.Response:
            async with api.stream(method, path, **parts) as answer:
                if "event-stream" not in answer.headers.get("content-type", ""):
                    await answer.aread()
                return answer

        def client(method: str, path: str, **parts: Any) -> httpx2.Response:
            return loop.run(send(method, path, **parts))

        ids = seeded_ids(client, settings)
        for target in targets()[part]:
            play(target, client, ids, examples, seed)


def play(
    target: Target, client: Callable[..., httpx2.Response], ids: list[str], examples: int, seed: int
) -> None:
    """Send some requests to one target."""
    queries = st.dictionaries(st.sampled_from(target.names) if target.names else TEXTS, TEXTS, max_size=3)
    headers = st.fixed_dictionaries(
        {"Content-Type": st.sampled_from(["application/json"] * 9 + ["text/plain"])},
        optional={
            name: st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
            for name in ("Last-Event-ID", "Idempotency-Key")
        },
    )

    @seeded(seed)
    @fuzzing(max_examples=examples, database=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(ids), queries, headers, bodies(target.names))
    def answers(some_id: str, query: dict[str, str], head: dict[str, str], body: bytes) -> None:
        path = re.sub(r"\{\w+\}", some_id, target.path)
        parts: dict[str, Any] = {"headers": head, "params": encodable(query)}
        if target.method != "GET":
            parts["content"] = body
        for _ in range(TRIES_MAX):
            used = time.process_time()
            answer = client(target.method, path, **parts)
            used = time.process_time() - used
            assert answer.status_code < 500 or answer.status_code in REFUSALS_OF_SERVERS, (target, answer)
            if used < CPU_S_MAX:
                return
        raise AssertionError(f"{target} computes for {used:.1f} s")

    answers()


def encodable(query: dict[str, str]) -> dict[str, str]:
    """A query without halves of surrogate pairs, which no address can carry."""
    return {_whole(name): _whole(text) for name, text in query.items()}


def _whole(text: str) -> str:
    return text.encode(errors="replace").decode()
