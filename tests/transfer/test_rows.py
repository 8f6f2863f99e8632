"""Rows as files: one table with the topic in front, no cell of which runs as a formula."""

import csv
import io
import json
from datetime import date
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from python_calamine import CalamineWorkbook
from support.research_rows import Shelf

from chiron_api.transfer.rows.formats import write_rows
from chiron_api.transfer.rows.row_format import RowFormat
from chiron_workers.batches.answers import columns_asked_for
from chiron_workers.db.connect import Pool
from chiron_workers.runs.columns import read_columns, stored

COLUMNS = "name, year:int, share:float, free:bool, day:date, page:url"
FORMULA = '=HYPERLINK("https://evil.example","click")'


@pytest.fixture
def batch(shelf: Shelf) -> UUID:
    """A batch with two rows on one topic and none on the other."""
    shelf.subject("databases", "Databases")
    batch_id = shelf.batch("databases", "Rows")
    shelf.connection.execute(
        "update batches set columns = %s where id = %s", (json.dumps(stored(read_columns(COLUMNS))), batch_id)
    )
    run_id = shelf.run("databases", batch_id, "=1+1 databases")
    shelf.run(
        "databases", batch_id, "others", state="failed", error=json.dumps({"kind": "x", "message": "-2+3"})
    )
    fact = shelf.fact("databases", f"{FORMULA} is a name.", "https://example.org", quote="a", text="a b")
    fill(shelf, run_id, 1, fact, [FORMULA, "-1996", "0.5", "true", "2023-09-14", "https://example.org"])
    fill(shelf, run_id, 2, fact, ["+49 30", None, None, None, "0900-01-01", None])
    return batch_id


def fill(shelf: Shelf, run_id: UUID, n: int, fact: UUID, values: list[str | None]) -> None:
    shelf.insert("answer_rows", run_id=run_id, n=n, id=uuid4(), call_id="toolu_1")
    for place, value in enumerate(values):
        full = {"value": value, "fact_ids": [fact], "verdict_by": "rules"}
        rest = {"reason": "-nobody says so"} if value is None else full
        shelf.insert("answer_cells", run_id=run_id, n=n, place=place, **rest)


async def written(pool: Pool, batch: UUID, format: RowFormat, folder: Path) -> Path:
    file = folder / f"rows.{format}"
    await write_rows(pool, batch, await columns_asked_for(pool, batch), format, file)
    return file


async def test_a_csv_file_has_the_topic_the_columns_and_what_is_behind_each_cell(
    pool: Pool, batch: UUID, tmp_path: Path
) -> None:
    text = (await written(pool, batch, RowFormat.CSV, tmp_path)).read_text()
    head, first, second = csv.reader(io.StringIO(text))
    assert head[:8] == ["topic", "name", "year", "share", "free", "day", "page", "name [facts]"]
    assert head[-3:] == ["page [note]", "[run]", "[row]"]
    assert first[:7] == [
        "'=1+1 databases", f"'{FORMULA}", "-1996", "0.5", "true", "2023-09-14", "https://example.org"
    ]  # fmt: skip
    assert UUID(first[7])
    assert second[1:4] == ["'+49 30", "", ""]
    assert second[head.index("year [note]")] == "'-nobody says so"


async def test_a_json_file_has_each_cell_with_its_facts_and_reasons(
    pool: Pool, batch: UUID, tmp_path: Path
) -> None:
    document = json.loads((await written(pool, batch, RowFormat.JSON, tmp_path)).read_text())
    assert [column["name"] for column in document["columns"]][:2] == ["name", "year"]
    first, second = document["rows"]
    assert first["cells"]["name"]["value"] == FORMULA
    assert first["cells"]["year"]["value"] == -1996
    assert first["cells"]["free"]["value"] is True
    assert first["cells"]["name"]["facts"][0]["sources"] == ["https://example.org"]
    assert second["cells"]["year"] == {
        "value": None, "facts": [], "reason": "-nobody says so", "found_by": "", "verdict": None, "mark": "",
        "changes": [], "calculation": "",
    }  # fmt: skip
    assert (first["cells"]["name"]["verdict"], first["cells"]["name"]["mark"]) == (
        "unchecked",
        "value found, meaning unchecked",
    )
    assert (first["topic"], first["n"], second["n"]) == ("=1+1 databases", 1, 2)


async def test_a_workbook_has_the_table_the_facts_and_the_topics(
    pool: Pool, batch: UUID, tmp_path: Path
) -> None:
    file = await written(pool, batch, RowFormat.XLSX, tmp_path)
    book = CalamineWorkbook.from_path(file)
    assert book.sheet_names == ["Rows", "Evidence", "Topics"]
    head, first, second = book.get_sheet_by_name("Rows").to_python()
    assert head == ["topic", "name", "year", "share", "free", "day", "page", "[unchecked]"]
    assert first[:-1] == [
        "=1+1 databases", FORMULA, -1996, 0.5, True, date(2023, 9, 14), "https://example.org"
    ]  # fmt: skip
    assert second[:-1] == ["=1+1 databases", "+49 30", "", "", "", "0900-01-01", ""]
    assert second[-1] == "value found, meaning unchecked: name, day"
    evidence = book.get_sheet_by_name("Evidence").to_python()
    assert evidence[1][2:4] == ["name", FORMULA]
    assert evidence[1][6] == f"{FORMULA} is a name."
    topics = book.get_sheet_by_name("Topics").to_python()
    assert [line[:3] for line in topics[1:]] == [["=1+1 databases", "completed", 2], ["others", "failed", 0]]


async def test_no_cell_of_a_workbook_is_a_formula(pool: Pool, batch: UUID, tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(await written(pool, batch, RowFormat.XLSX, tmp_path)) as archive:
        sheets = [archive.read(name).decode() for name in archive.namelist() if "worksheets/" in name]
    assert len(sheets) >= 3
    assert not any("<f>" in sheet or "<hyperlink" in sheet for sheet in sheets)


async def test_a_cell_whose_fact_was_withdrawn_since_is_marked_in_every_format(
    pool: Pool, shelf: Shelf, batch: UUID, tmp_path: Path
) -> None:
    shelf.connection.execute("update facts set status = 'withdrawn'")
    for text_format in (RowFormat.CSV, RowFormat.JSON):
        assert "was withdrawn since." in (await written(pool, batch, text_format, tmp_path)).read_text()
    file = await written(pool, batch, RowFormat.XLSX, tmp_path)
    evidence = CalamineWorkbook.from_path(file).get_sheet_by_name("Evidence").to_python()
    assert "was withdrawn since." in str(evidence[1][4])
