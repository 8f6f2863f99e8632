"""Files that are small and stand for much: a new member is a file in `documents` or in `table_queries`.

What is bound is the size of what a file is read as, and that it is read in the sandbox, which has limits of time and memory.
"""

import json
import re
import runpy
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest
from support.hostile_documents import nested_rows

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.read_folder import FileDocument, read_folder
from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed_sync
from chiron_workers.documents.tables.load import TableFile
from chiron_workers.documents.tables.query import ANSWER_CHARS_MAX, _CellWriter, describe_tables, query_tables

HERE = Path(__file__).parent
DOCUMENTS = sorted((HERE / "documents").glob("*.py"))
QUERIES = sorted((HERE / "table_queries").glob("*.sql"))
LIMITS = Limits(timeout_s=60, memory_bytes=1_000_000_000)
CHARS_PER_BYTE_MAX = 20  # that a document's text may have, of those that are not compressed
# In a query LONG stands for a text, LISTS for lists of a hundred lists of a hundred of what is in brackets.
LONG = "repeat('x', 1900)"
LISTS = "list_transform(range(100), a -> list_transform(range(100), b -> {}))"


def written_out(query: str) -> str:
    """A query with what its words stand for."""
    return re.sub(r"LISTS\[(.*?)\](?= from)", lambda match: LISTS.format(match[1]), query).replace(
        "LONG", LONG
    )


@pytest.mark.parametrize("member", DOCUMENTS, ids=lambda member: member.stem)
def test_a_document_is_read_as_no_more_than_it_holds(member: Path, tmp_path: Path):
    words = runpy.run_path(str(member))
    file = tmp_path / words["NAME"]
    file.write_bytes(words["CONTENT"])
    [result] = read_folder(file)
    assert isinstance(result, FileDocument), result
    chars = len(json.dumps(asdict(result.document), default=str))
    assert chars < CHARS_PER_BYTE_MAX * file.stat().st_size


def test_what_stands_in_a_cell_of_a_cell_is_read_once(tmp_path: Path):
    file = tmp_path / "a.docx"
    file.write_bytes(nested_rows(30))
    [result] = read_folder(file)
    assert isinstance(result, FileDocument)
    assert result.document.text.count("deep words") == 30


@pytest.mark.parametrize("member", QUERIES, ids=lambda member: member.stem)
def test_an_answer_of_a_table_has_no_more_text_than_there_is_room_for(member: Path):
    files = (TableFile("a.csv", b"a,b\n1,2\n"),)
    job = partial(query_tables, files, written_out(member.read_text()), rows_max=1_000, limits=LIMITS)
    answer = run_sandboxed_sync(job, limits=LIMITS)
    assert answer.problem == ""
    size = len(json.dumps(asdict(answer), ensure_ascii=False))
    assert size < 3 * ANSWER_CHARS_MAX  # with marks, quotes and commas
    assert answer.is_too_long
    assert answer.is_cut or len(answer.rows) == 1


def test_cells_without_text_take_room_too():
    cells = _CellWriter(chars_left=1_000)
    rows = [row for row in cells.value([[None] * 100] * 100) if isinstance(row, list)]
    assert cells.is_full
    assert sum(map(len, rows)) < 1_100


def test_an_answer_with_too_many_columns_is_refused():
    query = "select x.*, y.*, z.* from (select V) x, (select V) y, (select V) z"
    query = query.replace("V", ", ".join(f"1 as a{n}" for n in range(900)))
    files = (TableFile("a.csv", b"a,b\n1,2\n"),)
    answer = run_sandboxed_sync(partial(query_tables, files, query, rows_max=9, limits=LIMITS), limits=LIMITS)
    assert "it has 2,700 columns; select at most 2,000" in answer.problem


def test_the_samples_of_a_table_have_no_more_text_than_there_is_room_for():
    cell = [["x" * 1_900] * 100] * 10
    data = "\n".join(json.dumps({"a": cell, "b": cell}) for _ in range(3)).encode()
    job = partial(describe_tables, (TableFile("a.jsonl", data),), limits=LIMITS)
    try:
        tables = run_sandboxed_sync(job, limits=LIMITS)
    except UnreadableError:
        return
    assert len(json.dumps([asdict(table) for table in tables])) < 2 * ANSWER_CHARS_MAX
