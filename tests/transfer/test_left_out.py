import json

from chiron_api.text import as_json
from chiron_api.transfer.exporting import exported
from chiron_api.transfer.importing import import_file

GAPS = [{"kind": "formula", "count": 3, "place": "page 2"}, {"kind": "comment", "count": 1, "place": ""}]


async def test_what_was_left_out_of_a_source_is_exported_and_imported_with_it(
    library, pool, other_home, embedder, tmp_path, rows
):
    library.connection.execute(
        "update fetches set left_out = %s where url like %s", [json.dumps(GAPS), "%a.org%"]
    )
    file = tmp_path / "file.jsonl"
    lines = [record async for record in exported(pool, None, with_snapshots=True)]
    file.write_text("".join(f"{as_json(record)}\n" for record in lines))
    assert sorted(str(line["left_out"]) for line in lines if line.get("kind") == "source") == sorted(
        [str(GAPS), "None"]
    )
    await import_file(other_home, embedder, file)
    stored = await rows(other_home, "select url, left_out from fetches order by url")
    assert [(row["url"], row["left_out"]) for row in stored] == [
        ("https://a.org/ice", GAPS),
        ("https://c.org/sonar", None),
    ]
