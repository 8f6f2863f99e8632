import httpx2
import psycopg

from chiron_workers.settings import Settings


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
        assert "chiron migrate" in answer.json()["detail"]


async def test_a_database_that_is_gone_is_not_ready_while_the_process_stays_healthy(
    settings: Settings, database_url: str, postgres: str, serving
):
    name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
    async with serving(settings) as client:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(f"alter database {name} allow_connections false")
        try:
            assert (await client.get("/readyz")).status_code == 503
            assert (await client.get("/healthz")).status_code == 200
        finally:
            with psycopg.connect(postgres, autocommit=True) as connection:
                connection.execute(f"alter database {name} allow_connections true")
