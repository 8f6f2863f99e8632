import asyncio

import httpx2
import psycopg
from support.worker_processes import rows, wait_until

from chiron_api.http.routes.health import UNREADY
from chiron_api.local_stack.access import api_key
from chiron_workers.settings import Settings

CUT = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"


async def test_a_server_that_runs_is_healthy_and_ready(client: httpx2.AsyncClient):
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    assert (await client.get("/readyz")).json() == {"status": "ready"}


async def test_a_schema_behind_the_program_is_not_ready_and_says_what_to_run(settings: Settings, serving):
    async with serving(settings) as client:
        with psycopg.connect(settings.database_url, autocommit=True) as connection:
            connection.execute(
                "delete from schema_migrations where version = (select max(version) from schema_migrations)"
            )
        answer = await client.get("/readyz")
        assert answer.status_code == 503
        assert "migrations have to be applied" in answer.json()["detail"]


async def test_a_database_that_is_gone_is_not_ready_while_the_process_stays_healthy(
    settings: Settings, database_url: str, postgres: str, serving
):
    name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
    async with serving(settings) as client:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(f"alter database {name} allow_connections false")
            connection.execute(CUT, [name])
        try:
            assert (await client.get("/readyz")).status_code == 503
            assert (await client.get("/healthz")).status_code == 200
        finally:
            with psycopg.connect(postgres, autocommit=True) as connection:
                connection.execute(f"alter database {name} allow_connections true")


async def test_a_server_whose_connections_are_all_in_use_is_not_ready_until_one_is_free(
    settings: Settings, serving
):
    async with serving(settings.model_copy(update={"pool_size": 2})) as client:
        client.headers["Authorization"] = f"Bearer {api_key(settings)}"
        with psycopg.connect(settings.database_url) as connection:
            connection.execute("lock table batches in access exclusive mode")
            waiting = [asyncio.create_task(client.get("/v1/batches")) for _ in range(2)]
            await asyncio.to_thread(wait_until, lambda: waiters(settings) == 2, what="two requests that wait")
            answer = await client.get("/readyz")
            assert (answer.status_code, answer.json()["detail"]) == (503, UNREADY)
            assert (await client.get("/healthz")).status_code == 200
        assert [answer.status_code for answer in await asyncio.gather(*waiting)] == [200, 200]
        assert (await client.get("/readyz")).status_code == 200


def waiters(settings: Settings) -> int:
    query = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    return len(rows(settings, query))
