import asyncio
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from shutil import copy

import pytest
from support.event_loop_delay import beating

from chiron_workers.documents.sandbox.sandbox import JOBS_MAX
from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import settings
from chiron_workers.store import Store
from chiron_workers.tools import registry
from chiron_workers.tools.tables import data_table

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that may be read, with some tables and a secret beside it."""
    root = tmp_path / "tables"
    root.mkdir()
    for name in ("beds.xlsx", "rain.xlsx", "debian.csv", "moons.pdf"):
        copy(GOLDEN / name, root)
    (tmp_path / "secret.csv").write_text("a,b\nxyzzy,2\n")
    monkeypatch.setenv("CHIRON_FILES", str(root))
    settings.cache_clear()
    yield root
    settings.cache_clear()


async def test_without_a_query_the_tables_are_described(store: Store, folder: Path) -> None:
    found = await data_table(store, paths=["rain.xlsx"], sheet="Rain")
    assert found["tables"] == [
        {
            "table": "rain",
            "file": "rain.xlsx",
            "rows": 3,
            "columns": [
                {"name": "Month", "type": "VARCHAR", "samples": ["January", "February", "Sum"]},
                {"name": "mm", "type": "DOUBLE", "samples": [68.0, 51.5, 119.5]},
            ],
        }
    ]
    assert "not instructions" in found["notice"]


async def test_one_select_is_answered(store: Store, folder: Path) -> None:
    query = (
        "select year(created) // 10 * 10 as decade, count(*) from debian group by all order by all limit 2"
    )
    found = await data_table(store, paths=["debian.csv", "beds.xlsx"], query=query)
    assert (found["columns"], found["rows"]) == (["decade", "count_star()"], [[1990, 8], [2000, 5]])
    assert "note" not in found
    cut = await data_table(store, paths=["debian.csv"], query="from debian", max_rows=1)
    assert (len(cut["rows"]), cut["note"][:35]) == (1, "The result has more than 1 rows. Ag")
    json.dumps(cut)


async def test_what_the_values_do_not_say_comes_with_them(store: Store, folder: Path) -> None:
    (folder / "people.csv").write_text(
        "Harbours 2024\n\nOrt;Leute;Anteil\nAdorf;1.700;12,5\nBstadt;21.300;3,25\n"
    )
    [table] = (await data_table(store, paths=["people.csv"]))["tables"]
    assert [(column["name"], column["type"]) for column in table["columns"]] == [
        ("Ort", "VARCHAR"), ("Leute", "VARCHAR"), ("Anteil", "VARCHAR"),
    ]  # fmt: skip
    where, numbers = table["notes"]
    assert where == "The names of the columns are those of row 3. Above stands: Harbours 2024."
    assert '"Leute", "Anteil" stay text: numbers with commas before decimals' in numbers
    answer = await data_table(
        store, paths=["people.csv"], query="select max(replace(Leute, '.', '')::int) from people"
    )
    assert (answer["rows"], len(answer["notes"])) == ([[21300]], 2)


@pytest.mark.parametrize(
    ("paths", "query", "sentence"),
    [
        (["../secret.csv"], "", r"'../secret.csv' cannot be read: it is not below a folder that may be read"),
        (["beds.xlsx", "/etc/passwd"], "", "'/etc/passwd' cannot be read: it is not below"),
        (["nothing.csv"], "", "'nothing.csv' cannot be read: there is no such file."),
        (["."], "", "it is a folder, no file"),
        (["moons.pdf"], "", "The tables cannot be read: moons.pdf: it is pdf, which holds no table"),
        (["rain.xlsx"], "select x from rain_rain", r'The query failed: Binder Error: .*"x" not found'),
        (["rain.xlsx"], "from rain", "The tables are rain_rain, rain_notes_2024."),
        (["rain.xlsx"], "drop table rain_rain", "The query failed: it must be a SELECT"),
        (["rain.xlsx"], "from '{root}/../secret.csv'", "The query failed"),
        (["rain.xlsx"], "x" * 20_001, "query: must have at most 20,000 characters"),
    ],
)
async def test_what_goes_wrong_is_a_sentence(
    store: Store, folder: Path, paths: list[str], query: str, sentence: str
) -> None:
    with pytest.raises(ToolError, match=f"(?s){sentence}") as told:
        await data_table(store, paths=paths, query=query.format(root=folder))
    assert "xyzzy" not in str(told.value)


async def test_all_files_together_keep_to_the_limit(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHIRON_FILE_BYTES_MAX", "6000")
    settings.cache_clear()
    await data_table(store, paths=["beds.xlsx"])
    with pytest.raises(ToolError, match=r"'rain\.xlsx' cannot be read: it is larger than"):
        await data_table(store, paths=["beds.xlsx", "rain.xlsx"])


async def test_the_event_loop_goes_on_while_a_query_runs_and_a_cancel_ends_it(
    store: Store, folder: Path
) -> None:
    query = "select max(sin(range)) from range(100000000000)"  # long, and in a constant memory
    asked = asyncio.create_task(data_table(store, paths=["beds.xlsx"], query=query))
    async with beating() as pulse:
        await asyncio.wait([asked], timeout=1)
    assert pulse.worked_s < 0.5
    assert not asked.done()
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked


async def test_a_run_that_queried_a_file_is_marked(folder: Path, in_a_run: Caller, pool, embedder) -> None:
    async with Store(Session(pool, in_a_run), embedder) as of_run:
        await data_table(of_run, paths=["beds.xlsx"])
        assert await of_run.egress.is_tainted()


async def test_it_is_offered_to_agents(store: Store, folder: Path) -> None:
    arguments = {"paths": '["rain.xlsx"]', "query": "select 1 as one", "max_rows": "5"}
    assert (await registry().execute("data_table", store, arguments))["rows"] == [[1]]
    with pytest.raises(ToolValidationError, match="paths"):
        await registry().execute("data_table", store, {"paths": []})


async def test_many_calls_at_once_hold_the_bytes_of_few_files(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, calls = 1_000_000, 6 * JOBS_MAX
    (folder / "long.csv").write_text("a\n" + ("x" * 49_999 + "\n") * (size // 50_000 - 1))
    monkeypatch.setenv("CHIRON_FILE_BYTES_MAX", str(size))
    settings.cache_clear()
    tracemalloc.start()
    try:
        found = await asyncio.gather(*(data_table(store, paths=["long.csv"]) for _ in range(calls)))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == calls
    assert peak_bytes < 4 * JOBS_MAX * size  # each file once more while it is sent to its process
