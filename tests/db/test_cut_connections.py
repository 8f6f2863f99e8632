"""A pool hands out no connection that the server has closed, also where it said why first."""

from chiron_workers.db.connect import connect, open_pool


async def test_a_connection_whose_server_has_said_goodbye_is_not_handed_out(database_url: str) -> None:
    async with open_pool(database_url, size=1, away_s=5) as pool:
        async with pool.connection() as connection:
            pid = connection.info.backend_pid
            await connection.execute("select 1")
        with connect(database_url) as other:
            other.execute("select pg_terminate_backend(%s, 10000)", (pid,))
        async with pool.connection() as connection:
            await connection.execute("select 1")
            assert connection.info.backend_pid != pid
