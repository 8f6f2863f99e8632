"""Clients have reports written and read them in parts."""

import pytest
from support.report_writing import AGE, Batch, researched_batch, written_report
from support.research_rows import Shelf

from chiron_api.mcp_server.act_tools import calling
from chiron_api.mcp_server.reports import get_report, write_report
from chiron_api.services import Services
from chiron_workers.errors import ToolError
from chiron_workers.settings import Settings
from chiron_workers.store import Store


@pytest.fixture
def batch(shelf: Shelf, settings: Settings, setting) -> Batch:
    setting("REDIS_URL", settings.redis_url)
    return researched_batch(shelf)


async def test_a_client_has_a_report_written_once_for_the_same_facts(
    store: Store, services: Services, batch: Batch, shelf: Shelf
) -> None:
    with calling(services):
        first = await write_report(store, id=str(batch.id), model="offline")
        assert first["is_new"]
        assert await write_report(store, id=str(batch.id), model="offline") == first | {"is_new": False}
        assert (await write_report(store, id="Sea ice", model="offline", budget_tokens=9_000))["is_new"]
        with pytest.raises(ToolError, match="There is no subject 'cats'"):
            await write_report(store, id="cats")
    assert shelf.connection.execute(
        "select budget_tokens from runs where subject_id = 'sea-ice' and budget_tokens is not null"
    ).fetchall() == [(9_000,)]


async def test_a_client_reads_a_report_in_parts_by_the_id_of_its_run_too(
    store: Store, services: Services, batch: Batch, shelf: Shelf
) -> None:
    run = written_report(shelf, batch, ("Summary", [(AGE, [batch.age])]), ("Age", [(AGE, [batch.age])]))
    with calling(services):
        part = await get_report(store, id=str(run))
        rest = await get_report(store, id=str(batch.id), offset=100)
    assert f"### Summary\n\n{AGE} (finding " in part["text"]
    assert part["next_offset"] is None
    assert rest["text"] == part["text"][100:]
    assert rest["chars"] == len(part["text"])
