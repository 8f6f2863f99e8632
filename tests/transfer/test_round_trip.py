import json
from pathlib import Path

import pytest

from chiron_api.text import as_json
from chiron_api.transfer.csv_writer import CsvWriter
from chiron_api.transfer.exporting import exported
from chiron_api.transfer.importing import import_file
from chiron_workers.errors import UsageError
from chiron_workers.knowledge.search.search import Filters
from chiron_workers.runs.session import Session
from chiron_workers.store import Store


async def written(pool, file: Path, wanted=None, *, with_snapshots=True) -> Path:
    """A file of what a home knows, as `chiron export` writes it."""
    rows = CsvWriter()
    with file.open("w", encoding="utf-8", newline="") as out:
        out.write(rows.head() if file.suffix == ".csv" else "")
        async for record in exported(pool, wanted, with_snapshots=with_snapshots):
            out.write(rows.rows(record) if file.suffix == ".csv" else f"{as_json(record)}\n")
    return file


def records(file: Path) -> list[dict]:
    found = [json.loads(line) for line in file.read_text().splitlines()]
    return [one for one in found if one["kind"] != "chiron.export"]


async def test_what_is_exported_and_imported_into_an_empty_home_is_exported_the_same(
    library, pool, other_home, embedder, tmp_path
):
    first = await written(pool, tmp_path / "first.jsonl")
    done = await import_file(other_home, embedder, first)
    assert (done.facts, done.known, done.assertions, done.links, done.texts, done.unproven) == (
        4,
        0,
        1,
        1,
        1,
        0,
    )
    second = await written(other_home, tmp_path / "second.jsonl")
    assert records(second) == records(first)
    assert len(records(first)) == 2 + 2 + 4


async def test_authors_and_doi_go_along_and_are_left_out_where_nobody_knows_them(
    library, pool, other_home, embedder, tmp_path, rows
):
    names = ["García Márquez, Gabriel", "Ortega y Gasset, José"]
    library.connection.execute(
        "update fetches set author = 'x', authors = %s, doi = '10.1000/own' where url = 'https://a.org/ice'",
        [json.dumps(names)],
    )
    file = await written(pool, tmp_path / "file.jsonl")
    known = [
        record
        for record in records(file)
        if record["kind"] == "source" and record["url"] == "https://a.org/ice"
    ]
    assert [(record["authors"], record["doi"]) for record in known] == [(names, "10.1000/own")]
    others = [record for record in records(file) if record["kind"] == "source" and record not in known]
    assert others
    assert all(not {"authors", "doi"} & record.keys() for record in others)
    await import_file(other_home, embedder, file)
    stored = await rows(other_home, "select authors, doi from fetches where url = 'https://a.org/ice'")
    assert stored == [{"authors": names, "doi": "10.1000/own"}]


async def test_what_its_source_says_no_more_stays_so_in_another_home(
    library, pool, other_home, embedder, tmp_path, rows
):
    verified = await rows(pool, "select id from facts where quote_state = 'verified' order by id")
    mean, other = (row["id"] for row in verified)
    library.connection.execute("update facts set ground = 'source changed' where id = %s", [mean])
    async with Store(Session(pool), embedder) as store:
        await store.facts.recompute([str(mean), str(other)], reason="its words are gone")
    library.connection.execute("update facts set superseded_by = %s where id = %s", [other, mean])
    file = await written(pool, tmp_path / "file.jsonl")
    await import_file(other_home, embedder, file)
    present = await rows(
        other_home, "select id, ground, superseded_by from facts where status = 'superseded'"
    )
    assert present == [{"id": mean, "ground": "source changed", "superseded_by": other}]
    assert records(await written(other_home, tmp_path / "again.jsonl")) == records(file)


async def test_a_doubt_about_the_words_around_a_quote_goes_along(
    library, pool, other_home, embedder, tmp_path, rows
):
    [fact, *_] = await rows(pool, "select id, status from facts where quote_state = 'verified' order by id")
    library.connection.execute("update facts set has_new_context = true where id = %s", [fact["id"]])
    file = await written(pool, tmp_path / "file.jsonl")
    await import_file(other_home, embedder, file)
    query = "select id, status, ground, has_new_context from facts where has_new_context"
    assert await rows(other_home, query) == [fact | {"ground": "stands", "has_new_context": True}]
    assert records(await written(other_home, tmp_path / "again.jsonl")) == records(file)


async def test_importing_twice_changes_nothing(library, pool, other_home, embedder, tmp_path, rows):
    file = await written(pool, tmp_path / "file.jsonl")
    await import_file(other_home, embedder, file)
    before = await written(other_home, tmp_path / "before.jsonl")
    done = await import_file(other_home, embedder, file)
    assert (done.facts, done.known, done.assertions, done.links, done.texts) == (0, 4, 0, 0, 0)
    assert records(await written(other_home, tmp_path / "after.jsonl")) == records(before)
    assert (await rows(other_home, "select count(*) as n from fetches"))[0]["n"] == 2


async def test_a_home_takes_its_own_export_without_a_change(library, pool, embedder, tmp_path):
    before = await written(pool, tmp_path / "before.jsonl")
    done = await import_file(pool, embedder, before)
    assert (done.facts, done.known, done.assertions, done.links, done.texts) == (0, 4, 0, 0, 0)
    assert records(await written(pool, tmp_path / "after.jsonl")) == records(before)


async def test_csv_is_for_spreadsheets_and_refused_with_a_sentence(pool, embedder, tmp_path):
    (tmp_path / "file.csv").write_text("fact_id,content\n1,a\n")
    with pytest.raises(UsageError, match="CSV is for spreadsheets and is not imported"):
        await import_file(pool, embedder, tmp_path / "file.csv")


async def test_without_texts_everything_comes_but_the_proof(library, pool, other_home, embedder, tmp_path):
    done = await import_file(
        other_home, embedder, await written(pool, tmp_path / "a.jsonl", with_snapshots=False)
    )
    assert (done.facts, done.unproven) == (4, 2)
    facts = [one for one in records(await written(other_home, tmp_path / "b.jsonl")) if one["kind"] == "fact"]
    assert {one["quote_state"] for fact in facts for one in fact["assertions"]} == {"unverified"}
    assert [one["quote"] for one in facts[0]["assertions"]] == [
        "In winter 2023 the mean thickness was 1.9 metres.", "thickness was 1.9 m"
    ]  # fmt: skip
    assert facts[0]["changes"][-1]["reason"] == "imported"  # capped, and the history says since when


async def test_facts_can_go_to_another_subject_of_the_same_home(library, pool, embedder, tmp_path, rows):
    file = await written(pool, tmp_path / "a.jsonl", "sea-ice")
    done = await import_file(pool, embedder, file, subject=("copy", "A copy"))
    assert (done.facts, done.assertions, done.links) == (2, 1, 1)
    again = await import_file(pool, embedder, file, subject=("copy", "A copy"))
    assert (again.facts, again.known, again.assertions, again.links) == (0, 2, 0, 0)
    found = await rows(pool, "select subject_id, count(*) as n from facts group by 1 order by 1")
    assert [(row["subject_id"], row["n"]) for row in found] == [("birds", 2), ("copy", 2), ("sea-ice", 2)]
    assert (await rows(pool, "select count(*) as n from fact_changes"))[0]["n"] == 4


async def test_a_run_is_exported_with_what_its_facts_are_linked_to(library, pool, tmp_path):
    batch = library.batch("sea-ice")
    run = library.run("sea-ice", batch, "x")
    library.connection.execute(
        "insert into run_facts (run_id, fact_id, how) select %s, id, 'cited' from facts where source_url like 'https://a%%'",
        (run,),
    )
    found = records(await written(pool, tmp_path / "a.jsonl", run))
    facts = [one for one in found if one["kind"] == "fact"]
    assert len(facts) == 2
    assert sum(len(one["links"]) for one in facts) == 1


async def test_imported_facts_are_found_by_their_meaning(library, pool, other_home, embedder, tmp_path):
    await import_file(other_home, embedder, await written(pool, tmp_path / "a.jsonl"))
    async with Store(Session(other_home), embedder) as store:
        found = await store.search.find("How thick was it?", filters=Filters(candidates=True), limit=9)
    assert len(found) == 3  # and not the one that was withdrawn
