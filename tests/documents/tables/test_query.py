import random
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import sandbox_jobs
from support.damaged_files import damaged

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed_sync
from chiron_workers.documents.tables.load import TableFile
from chiron_workers.documents.tables.query import QueryAnswer, Table, describe_tables, query_tables

GOLDEN = Path(__file__).parents[2] / "golden"
LIMITS = Limits(timeout_s=60, memory_bytes=800_000_000)
BEDS = [
    ["Broad bean", 2, 112.5, "2024-03-05", False, "early, hardy"],
    ["Pea", 2, 80.25, "2024-04-11", False, 'says "Meteor"'],
    ["Rose", 1, 150.0, "1998-11-20", True, "Größe 花"],
    ["Mint", 3, 45.0, "2019-05-02", True, None],
]


def golden(*names: str) -> tuple[TableFile, ...]:
    return tuple(TableFile(name, (GOLDEN / name).read_bytes()) for name in names)


def made(text: str | bytes, name: str = "a.csv") -> tuple[TableFile, ...]:
    return (TableFile(name, text.encode() if isinstance(text, str) else text),)


def ask(
    files: tuple[TableFile, ...], query: str, *, rows_max: int = 100, limits: Limits = LIMITS
) -> QueryAnswer:
    return run_sandboxed_sync(
        partial(query_tables, files, query, rows_max=rows_max, limits=limits), limits=limits
    )


def described(files: tuple[TableFile, ...]) -> list[Table]:
    return run_sandboxed_sync(partial(describe_tables, files, limits=LIMITS), limits=LIMITS)


@pytest.mark.parametrize("name", ["beds.xlsx", "beds.ods", "beds.parquet", "beds-utf16.tsv"])
def test_the_same_table_is_the_same_in_every_format(name: str) -> None:
    [table] = described(golden(name))
    assert (table.name, table.rows) == (name.partition(".")[0].replace("-", "_"), 4)
    assert [column.name for column in table.columns] == [
        "Plant", "Bed", "Height cm", "Sown", "Perennial", "Note",
    ]  # fmt: skip
    types = [column.type for column in table.columns]
    assert types[2:] == ["DOUBLE", "DATE", "BOOLEAN", "VARCHAR"]
    assert types[1] in ("BIGINT", "INTEGER")
    assert table.columns[2].samples == [112.5, 80.25, 150.0]
    assert ask(golden(name), f"from {table.name}").rows == BEDS


def test_files_are_joined_and_every_sheet_is_a_table() -> None:
    files = golden("rain.xlsx", "beds.parquet", "beds.xlsx")
    assert [table.name for table in described(files)] == ["rain_rain", "rain_notes_2024", "beds", "beds_2"]
    answer = ask(
        files,
        "select a.Plant, mm from beds a join beds_2 using (Plant), rain_rain where Month = 'Sum' limit 1",
    )
    assert (answer.columns, answer.types, answer.rows) == (
        ["Plant", "mm"],
        ["VARCHAR", "DOUBLE"],
        [["Broad bean", 119.5]],
    )
    [only] = described((TableFile("rain.xlsx", (GOLDEN / "rain.xlsx").read_bytes(), sheet="Rain"),))
    assert only.name == "rain"


def test_json_and_json_lines_are_tables() -> None:
    lines = made('{"a": 1, "b": {"c": "x"}}\n{"a": 2.5}\n', "x.jsonl")
    assert ask(lines, "select a, b.c from x order by a").rows == [[1.0, "x"], [2.5, None]]
    assert ask(made('[{"a": 1}, {"a": [1, 2]}]', "x.json"), "select * from x").rows == [["1"], ["[1,2]"]]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["12345678901234567890123", "5"], ["12345678901234567890123", "5"]),
        (["12345678901234567890123", "12345678901234567890124"], ["12345678901234567890123", "12345678901234567890124"]),
        (["1234567890123456789", "1.5"], ["1234567890123456789", "1.5"]),
        (["1234567890123456789", "-5"], [1234567890123456789, -5]),
        (["0.12345678901234567891", "1.25"], ["0.12345678901234567891", "1.25"]),
        (["1e999", "1.5e-400"], ["1e999", "1.5e-400"]),
        (["1.5e3", "0.1"], [1500.0, 0.1]),
        (['"03-04-2019"', '"05-04-2019"'], ["03-04-2019", "05-04-2019"]),
        (['"2019-04-03"', '"2019-04-04"'], ["2019-04-03", "2019-04-04"]),
        (['"03-04-2019 10:00:00"', '"x"'], ["03-04-2019 10:00:00", "x"]),
        (['"2019-04-03T10:00:00+02:00"', "null"], ["2019-04-03T10:00:00+02:00", None]),
        (['"a \\\\"', '"12345678901234567890123"'], ["a \\", "12345678901234567890123"]),
        (["[12345678901234567890123]", "[]"], [["12345678901234567890123"], []]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_values_of_json_keep_their_digits(cells: list[str], values: list[object], ending: str) -> None:
    rows = [f'{{"a": {cell}, "b": 1}}' for cell in cells]
    text = f"[{', '.join(rows)}]" if ending == "json" else "\n".join(rows)
    assert [row[0] for row in ask(made(text, f"x.{ending}"), "select a from x").rows] == values


def test_no_row_and_no_zero_of_a_csv_file_is_lost() -> None:
    text = '# not a comment;x\n007;1\n\n8;2;3\n"line\nbreak";2024-02-30\n9'
    answer = ask(made(text), "select * from a")
    assert answer.columns == ["# not a comment", "x", "column3"]
    assert answer.types == ["VARCHAR", "VARCHAR", "BIGINT"]
    assert answer.rows == [
        ["007", "1", None], ["8", "2", 3], ["line\nbreak", "2024-02-30", None], ["9", None, None],
    ]  # fmt: skip


def test_a_type_holds_of_every_row_and_not_only_of_the_first_ones() -> None:
    rows = "".join(f"{n},,{n},\n" for n in range(30_000))
    answer = ask(made(f"a,b,c,d\n{rows}x,2.5,7,\n"), "from a limit 0")
    assert answer.types == ["VARCHAR", "DOUBLE", "BIGINT", "VARCHAR"]


def test_names_of_tables_and_columns_can_be_written_without_surprise() -> None:
    names = ["select.csv", "2024 sales (final).csv", "ü.csv", "A.csv", "a.tsv"]
    files = tuple(TableFile(name, b"a,A,\n1,2,3\n") for name in names)
    tables = described(files)
    assert [table.name for table in tables] == ["t_select", "t_2024_sales_final", "data", "a", "a_2"]
    assert [column.name for column in tables[0].columns] == ["a", "A_2", "column3"]
    for table in tables:
        assert ask(files, f"from {table.name}").rows == [[1, 2, 3]]


def test_values_are_json_whatever_they_are() -> None:
    query = """select 'nan'::double, 1e308 * 10, '12.10'::decimal(10, 2), 'abc'::blob, [1, null], {'k': date '2024-01-31'},
        map {'a': 1}, interval '3 days', uuid '00000000-0000-0000-0000-000000000001', time '12:30', 2::hugeint ** 100,
        repeat('x', 5000), null, timestamptz '2024-01-31 12:00:00+00', range(200)"""
    answer = ask(made("a,b\n1,2\n"), query)
    assert answer.problem == ""
    [row] = answer.rows
    assert row[:7] == ["nan", "inf", "12.10", "616263", [1, None], {"k": "2024-01-31"}, {"a": 1}]
    assert row[7:10] == ["3 days, 0:00:00", "00000000-0000-0000-0000-000000000001", "12:30:00"]
    assert row[11].endswith("x… [cut, 5,000 characters]")
    assert row[-1][-1] == "… [100 more]"


def test_rows_are_counted_to_the_limit() -> None:
    answer = ask(made("a,b\n1,2\n"), "select * from range(10)", rows_max=3)
    assert (answer.rows, answer.is_cut) == ([[0], [1], [2]], True)
    assert not ask(made("a,b\n1,2\n"), "select * from range(3)", rows_max=3).is_cut


ATTACKS = """
select * from read_csv('/etc/passwd')
select * from '/etc/passwd'
from '/etc/hosts.csv'
select * from "/etc/passwd"
select * from read_text('/etc/passwd')
select * from read_blob('/etc/*')
select * from glob('/*')
select * from read_parquet('TMP/*.parquet')
select * from parquet_metadata('TMP/a.parquet')
select * from parquet_file_metadata('TMP/a.parquet')
select * from read_json('/proc/self/environ')
select * from read_ndjson_objects('/proc/self/environ')
select * from read_csv('/dev/fd/0')
select * from read_text('/proc/self/cmdline')
select * from sniff_csv('/etc/passwd')
select * from read_csv('https://example.com/a.csv')
select * from 's3://bucket/a.parquet'
select * from query('select * from read_text(''/etc/passwd'')')
select * from query_table(['/etc/passwd'])
select * from json_execute_serialized_sql(json_serialize_sql('select * from read_text(''/etc/passwd'')'))
select getenv('HOME')
select * from duckdb_secrets()
select * from which_secret('s3://x', 's3')
select * from duckdb_extensions()
select * from database
select * from files
select * from pandas_scan(0)
select * from arrow_scan(0, 0, 0)
with x as (copy a to 'TMP/attack') select 1
copy a to 'TMP/attack'
copy (select 1) to 'TMP/attack'
export database 'TMP/attack'
attach 'TMP/attack.db'
attach ':memory:' as other
install httpfs
load httpfs
load 'TMP/attack.so'
set enable_external_access = true
set lock_configuration = false
reset enable_external_access
pragma enable_external_access = true
pragma database_list
create table b as select 1
create view b as select * from read_text('/etc/passwd')
create macro f() as table select * from read_text('/etc/passwd')
create secret (type s3)
insert into a values (1, 2)
update a set a = 2
delete from a
drop table a
alter table a drop column a
call pragma_version()
explain analyze select 1
prepare p as select 1
execute p
begin
checkpoint
vacuum
use memory
import database 'TMP'
detach memory
select 1; select 2
select 1; copy a to 'TMP/attack'
select 1; set lock_configuration = false
/* select */ copy a to 'TMP/attack'
-- select
(copy a to 'TMP/attack')
pivot a on a using sum(b)
select
;
select nothing from nowhere
""".strip().split("\n")


def test_no_attack_reads_writes_or_changes_anything(tmp_path: Path) -> None:
    attacks = [attack.replace("TMP", str(tmp_path)) for attack in ATTACKS]
    job = partial(sandbox_jobs.all_queries, made("a,b\n1,2\n"), attacks, LIMITS)
    for attack, answer in zip(attacks, run_sandboxed_sync(job, limits=LIMITS), strict=True):
        assert answer.rows == [], attack
        assert answer.problem, attack
        assert "root:" not in answer.problem
    assert list(tmp_path.iterdir()) == []


def test_nothing_of_the_worker_is_in_sight_of_a_query() -> None:
    for query in (
        "select * from duckdb_settings()",
        "select * from duckdb_databases()",
        "select current_setting('home_directory')",
    ):
        shown = str(ask(made("a,b\n1,2\n"), query, rows_max=1_000))
        assert "postgres" not in shown
        assert str(Path.home()) not in shown


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("select count(*) from range(1000000000) a, range(1000000000) b where a.range % 7 = b.range % 11", "took more than"),
        ("with recursive x as (select 1 as n union all select n + 1 from x) select count(*) from x", "took more than|Memory"),
        ("select list(range) from range(100000000)", "Memory"),
        ("select a.range from range(100000000) a order by hash(a.range)", "Memory|took more than"),
        ("select repeat('x', 4000000000)", "Memory|maximum"),
        ("select string_agg(repeat('x', 100000), '') from range(100000)", "Memory|maximum"),
        ("select " + "(" * 3_000 + "1" + ")" * 3_000, ""),
        ("select " + "1+" * 9_000 + "1", ""),
        ("select regexp_matches(repeat('a', 1000000), '(a+)+$')", ""),
    ],
)  # fmt: skip
def test_a_query_that_never_ends_or_wants_everything_is_stopped(query: str, sentence: str) -> None:
    began = time.monotonic()
    # What never ends takes the time that it has; what wants everything needs some to ask for it.
    limits = Limits(timeout_s=1 if "took" in sentence else 4, memory_bytes=600_000_000)
    try:
        problem = ask(made("a,b\n1,2\n"), query, limits=limits).problem
    except UnreadableError as error:
        problem = str(error)
    assert time.monotonic() - began < limits.timeout_s + 30
    if sentence:
        assert any(
            word in problem
            for word in [*sentence.split("|"), "took more than", "crashed", "memory", "Maximum", "depth"]
        ), problem


@pytest.mark.parametrize(
    ("data", "name", "sentence"),
    [
        ((GOLDEN / "moons.pdf").read_bytes(), "moons.pdf", "^moons.pdf: it is pdf, which holds no table; file_reader reads it"),
        (b"", "a.csv", "^a.csv: it holds no table"),
        (b"\n\n  \n", "a.csv", "^a.csv: it holds no table"),
        (b"{", "a.json", r"^a.json: it cannot be loaded as a table \(.*JSON"),
        (b"PAR1" + bytes(100) + b"PAR1", "a.parquet", r"^a.parquet: it cannot be loaded as a table"),
        (bytes(range(256)) * 9, "a.csv", "^a.csv: it is binary, not text"),
        (b'"' + b"x" * 11_000_000, "a.csv", "^a.csv: its rows cannot be told apart"),
    ],
)  # fmt: skip
def test_a_file_without_a_table_is_named(data: bytes, name: str, sentence: str) -> None:
    with pytest.raises(UnreadableError, match=sentence):
        described((TableFile(name, data),))


@pytest.mark.parametrize(
    "name", ["beds.xlsx", "beds.ods", "beds.xls", "beds.parquet", "beds-utf16.tsv", "node-synopsis.json"]
)
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_damaged_table_is_survived(name: str, data: st.DataObject) -> None:
    _survived(damaged(GOLDEN / name, data, places_max=20), name)


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), ending=st.sampled_from(["csv", "jsonl", "json", "xlsx", "parquet"]),
       start=st.sampled_from([b"", b"PAR1", b"PK\x03\x04", b"[", b"a,b\n"]))  # fmt: skip
def test_random_bytes_are_no_danger(seed: int, ending: str, start: bytes) -> None:
    _survived(start + random.Random(seed).randbytes(seed % 5_000), f"x.{ending}")


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(
    text=st.text(alphabet=st.sampled_from("a1,;\t|\"\n\\'é.-#{}[]:"), max_size=400),
    ending=st.sampled_from(["csv", "jsonl"]),
)
def test_any_text_is_a_table_or_a_sentence(text: str, ending: str) -> None:
    _survived(text.encode(), f"x.{ending}")


def _survived(data: bytes, name: str) -> None:
    began = time.monotonic()
    try:
        described((TableFile(name, data),))
    except UnreadableError as error:
        assert str(error)
    assert time.monotonic() - began < LIMITS.timeout_s + 30
