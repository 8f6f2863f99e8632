"""Rows on the command line: asked for with --columns or --schema, printed and written by `chiron results`."""

import json

import pytest

from chiron_workers.ids import new_id

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The database"},
        "year": {"type": ["integer", "null"]},
        "page": {"type": "string", "format": "uri"},
    },
    "required": ["name"],
}


def submitted(chiron, *options: str) -> dict:
    result = chiron("submit", "When?", "--subject", "Databases", "--json", *options)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture
def batch(chiron, rows, shelf):
    """A batch with a row of a run."""
    found = submitted(chiron, "--columns", "name,year:int,source")
    run_id, row_id = found["run_ids"][0], new_id()
    fact = shelf.fact("databases", "PostgreSQL began in 1996.", "https://example.org")
    shelf.insert("answer_rows", run_id=run_id, n=1, id=row_id, call_id="toolu_1")
    cells = [("PostgreSQL", [fact], ""), ("1996", [fact], ""), (None, [], "No page says so.")]
    for place, (value, fact_ids, reason) in enumerate(cells):
        shelf.insert(
            "answer_cells", run_id=run_id, n=1, place=place, value=value, fact_ids=fact_ids, reason=reason
        )
    return found["batch_id"]


def test_columns_are_stored_with_the_batch(chiron, rows):
    batch_id = submitted(chiron, "--columns", "name, year:int")["batch_id"]
    [row] = rows("select columns from batches where id = %s", batch_id)
    assert row["columns"] == [
        {"name": "name", "type": "text", "description": ""}, {"name": "year", "type": "int", "description": ""}
    ]  # fmt: skip


def test_a_json_schema_of_a_row_names_columns_too(chiron, rows, tmp_path):
    (tmp_path / "row.json").write_text(json.dumps(SCHEMA))
    batch_id = submitted(chiron, "--schema", "row.json")["batch_id"]
    [row] = rows("select columns from batches where id = %s", batch_id)
    assert [(column["name"], column["type"]) for column in row["columns"]] == [
        ("name", "text"), ("year", "int"), ("page", "url")
    ]  # fmt: skip
    assert row["columns"][0]["description"] == "The database"


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ([], "a JSON schema is an object"),
        ({"type": "array"}, "a row is an object"),
        ({"properties": {}}, "between 1 and 50"),
        ({"properties": {"a": True}}, "a: the schema of a column is an object"),
        ({"properties": {"a": {"enum": [1]}}}, "a: 'enum' is not known here"),
        ({"properties": {"a": {"type": "array"}}}, "'a' cannot be of the type 'array'"),
        ({"properties": {"a": {"type": ["string", "integer"]}}}, "a column has one type beside null"),
        ({"properties": {"a": {"type": "string", "format": "email"}}}, "the format of a text is date or uri"),
        (
            {"properties": {"a": {"type": "string", "format": ["date"]}}},
            "the format of a text is date or uri",
        ),
        ({"properties": {"a": {}}, "oneOf": []}, "'oneOf' is not known here"),
    ],
)
def test_a_schema_that_no_row_can_have_is_refused_in_a_sentence(chiron, tmp_path, schema, words):
    (tmp_path / "row.json").write_text(json.dumps(schema))
    result = chiron("submit", "When?", "-s", "Databases", "--schema", "row.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "row.json" in result.stderr
    assert words in result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--columns", ""], "columns: number 1 has no name"),
        (["--columns", ",".join(f"c{n}" for n in range(1_000))], "between 1 and 50 of them (got 1,000)"),
        (["--columns", "a,A"], "as one before it is"),
        (["--columns", "a:money"], "the types are text, int, float, bool, date, url"),
        (["--columns", "a", "--schema", "row.json"], "not with both"),
        (["--schema", "nothing.json"], "cannot be read"),
        (["--columns", "a", "--role", "writer"], "hand in no rows"),
        (["--columns", "a", "--dry-run", "--role", "judge"], "hand in no rows"),
    ],
)
def test_columns_that_cannot_be_are_refused_and_nothing_is_submitted(chiron, rows, options, words):
    result = chiron("submit", "When?", "-s", "Databases", *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr
    assert rows("select 1 from batches") == []


def test_the_columns_are_part_of_what_an_idempotency_key_stands_for(chiron):
    first = submitted(chiron, "--columns", "a,b", "--idempotency-key", "k")
    assert submitted(chiron, "--columns", "a,b", "--idempotency-key", "k") == first
    other = chiron("submit", "When?", "-s", "Databases", "--columns", "a,b:int", "--idempotency-key", "k")
    assert other.exit_code == 1
    assert "was used for another request" in other.stderr


def test_people_read_the_rows_under_their_topic(chiron, batch):
    text = chiron("results", batch).stdout
    mark = "(value found, meaning unchecked.)"
    assert (
        f"  Row 1\n    name    PostgreSQL  {mark}\n    year    1996  {mark}\n    source  — No page says so.\n"
        in text
    )


def test_the_rows_are_printed_and_written_as_a_table(chiron, batch, tmp_path):
    printed = chiron("results", batch, "--format", "csv").stdout
    assert printed.startswith("topic,name,year,source,name [facts],")
    assert "\nWhen?,PostgreSQL,1996,," in printed.replace("\r", "")
    assert (
        json.loads(chiron("results", batch, "-f", "json").stdout)["rows"][0]["cells"]["year"]["value"] == 1996
    )
    for file in ("rows.csv", "rows.xlsx", "rows.json"):
        assert chiron("results", batch, "--output", file).stdout == f"{file} written.\n"
        assert (tmp_path / file).stat().st_size > 100
    again = chiron("results", batch, "--output", "rows.csv")
    assert (again.exit_code, "rows.csv exists" in again.stderr) == (2, True)
    assert chiron("results", batch, "--output", "rows.csv", "--force").exit_code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--format", "xlsx"], "xlsx cannot be printed"),
        (["--output", "rows.doc"], "rows are written as .csv, .xlsx or .json"),
        (["--format", "csv", "--json"], "take one of them"),
        (["--force"], "--force goes with --output"),
        (["--output", "no/such/rows.csv"], "There is no folder"),
    ],
)
def test_options_that_do_not_go_together_are_refused(chiron, batch, options, words):
    result = chiron("results", batch, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_a_batch_without_columns_has_no_rows_to_give(chiron):
    batch_id = submitted(chiron)["batch_id"]
    result = chiron("results", batch_id, "--format", "csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "submitted without columns" in result.stderr
    unknown = chiron("results", str(new_id()), "--format", "csv")
    assert (unknown.exit_code, "No batch and no run has the id" in unknown.stderr) == (1, True)
