"""The page that says whether the machine is well."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import httpx2
import psycopg
from support.research_rows import Shelf

from chiron_api.local_stack.access import api_key
from chiron_workers.pubsub.cooldowns import Cooldown, start_cooldown
from chiron_workers.pubsub.redis import redis_client
from chiron_workers.pubsub.signals import CHANNEL
from chiron_workers.settings import Settings

HOSTILE = "<script>alert(1)</script> \"'><img src=x onerror=alert(2)> مرحبا 🙂 \u202eabc\x1b[31m"
NOW = datetime.now(UTC)


def open_run(shelf: Shelf, topic: str, **fields: object) -> None:
    batch_id = shelf.batch("python")
    shelf.run("python", batch_id, topic, **{"spent_usd": 0, "finished_at": None} | fields)


async def test_it_names_services_schema_embedding_model_and_flower(client: httpx2.AsyncClient):
    page = (await client.get("/system")).text
    assert page.count(" ms</span>") == 2
    assert "Nothing waits." in page
    assert "No model is held" in page
    assert "all-MiniLM" in page or "minilm" in page.lower()
    assert f'href="http://{client.base_url.host}:5555/"' in page


async def test_it_counts_workers_that_give_signs_and_leases_that_ran_out(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("python")
    later, earlier = NOW + timedelta(minutes=1), NOW - timedelta(minutes=1)
    open_run(shelf, "a", state="running", worker="alpha:7", leased_until=later)
    open_run(shelf, "b", state="running", worker="beta:8", leased_until=earlier)
    shelf.insert("worker_metrics", id=uuid4(), worker="alpha:7", counters="{}", gauges="{}")
    page = (await client.get("/system")).text
    assert "alpha:7" in page
    assert "1 lease ran out" in page
    assert '<dt>Workers alive</dt><dd><span class="state completed">1</span></dd>' in page


async def test_the_run_that_a_worker_has_for_longest_leads_to_its_task_in_flower(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("python")
    lease = {"state": "running", "worker": "alpha:7", "leased_until": NOW + timedelta(minutes=1)}
    open_run(shelf, "new", **lease, started_at=NOW)
    open_run(shelf, "old", **lease, started_at=NOW - timedelta(hours=1))
    [run_id] = shelf.connection.execute("select id from runs where topic = 'old'").fetchone() or []
    flower = f"http://{client.base_url.host}:5555/task/{run_id}"
    assert f'href="{flower}"' in (await client.get("/system")).text
    assert f'href="{flower}"' in (await client.get(f"/runs/{run_id}")).text


async def test_it_says_what_waits_of_each_model_and_that_no_worker_is_alive(
    client: httpx2.AsyncClient, shelf: Shelf
):
    shelf.subject("python")
    for n in range(3):
        open_run(shelf, f"topic {n}", state="queued", model="claude-a", started_at=None)
    open_run(shelf, "later", state="queued", model="claude-b", ready_at=NOW + timedelta(hours=1))
    page = (await client.get("/system")).text
    assert 'data-label="waiting">3<' in page
    assert "1 not yet due" in page
    assert "no worker is alive" in page


async def test_it_names_holds_and_cooldowns(client: httpx2.AsyncClient, shelf: Shelf, settings: Settings):
    shelf.insert("holds", model="claude-a", until=NOW + timedelta(hours=1), reason=f"No credit. {HOSTILE}")
    connection = redis_client(settings.redis_url)
    await start_cooldown(connection, CHANNEL, Cooldown("claude-b", 600, "busy"))
    await connection.aclose()
    page = (await client.get("/system")).text
    assert "No credit." in page
    assert "claude-b" in page
    assert "no calls for another" in page
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "\x1b" not in page


async def test_money_is_counted_by_the_day_on_which_runs_end(client: httpx2.AsyncClient, shelf: Shelf):
    shelf.subject("python")
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=1)
    open_run(shelf, "a", spent_usd=2, finished_at=midnight)
    open_run(shelf, "b", spent_usd=3, state="running", leased_until=NOW)
    open_run(shelf, "c", spent_usd=7, finished_at=midnight - timedelta(days=2))
    shelf.insert("spending", day=datetime.now(UTC).date(), shard=0, usd=4)
    page = (await client.get("/system")).text
    assert "<dt>Today</dt><dd>$4.00</dd>" in page, "as the day's budget counts: each call on its day"
    assert 'aria-label="$5.00"' in page, "a run on the day on which it ends"
    assert "<dt>Seven days</dt><dd>$12.00</dd>" in page


async def test_a_schema_that_lacks_migrations_is_said(client: httpx2.AsyncClient, settings: Settings):
    with psycopg.connect(settings.database_url) as connection:
        connection.execute("delete from schema_migrations where version >= 30")
    assert "has to migrate the database" in (await client.get("/system")).text


async def test_a_redis_that_is_away_is_said_and_the_rest_is_shown(settings: Settings, serving):
    away = settings.model_copy(update={"redis_url": "redis://127.0.0.1:9/0"})
    async with serving(away) as client:
        client.headers["Authorization"] = f"Bearer {api_key(settings)}"
        page = (await client.get("/system")).text
    assert "Redis: It does not answer" in page
    assert page.count(" ms</span>") == 1


async def test_its_parts_are_live(client: httpx2.AsyncClient):
    async with client.stream("GET", "/system/live") as stream:
        lines = stream.aiter_lines()
        text = ""
        async for line in lines:  # ends: the first frame has all parts
            text += line
            if '"target": "spending"' in text:
                break
    assert '"target": "services"' in text


async def test_webhooks_and_deliveries_are_reached_from_system_and_show_where_they_are(
    client: httpx2.AsyncClient,
):
    page = (await client.get("/system")).text
    for path in ("/webhooks", "/deliveries", "/keys"):
        assert f'href="{path}"' in page
        assert '<a href="/system" aria-current="page">' in (await client.get(path)).text, path
