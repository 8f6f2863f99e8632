import json

import pytest
from support.research_rows import Shelf


@pytest.fixture
def known(chiron, database_url):
    shelf = Shelf(database_url)
    shelf.fact(
        shelf.subject("birds", "Birds"), "=Ducks dive for food.", "https://example.org/a", quote="As seen."
    )
    shelf.connection.close()


def test_knowledge_is_exported_to_the_screen_or_a_file(chiron, known, tmp_path):
    kinds = [json.loads(line)["kind"] for line in chiron("export").stdout.splitlines()]
    assert kinds == ["chiron.export", "subject", "fact"]
    assert "'=Ducks dive" in chiron("export", "--subject", "Birds", "--format", "csv").stdout
    assert chiron("export", "birds", "-o", "birds.jsonl").stdout == "birds.jsonl written.\n"
    refused = chiron("export", "birds", "-o", "birds.jsonl")
    assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
    assert sorted(file.name for file in tmp_path.iterdir() if "birds" in file.name) == ["birds.jsonl"]


def test_an_export_is_imported_again(chiron, known):
    chiron("export", "-o", "all.jsonl")
    said = chiron("import", "all.jsonl", "--subject", "Ducks")
    assert (
        said.stdout
        == "Imported: 1 new fact, 0 known ones, 0 new further sources, 0 new links, 0 new texts.\n"
    )
    assert json.loads(chiron("import", "all.jsonl", "-s", "Ducks", "--json").stdout)["known"] == 1


def test_wrong_calls_are_one_sentence(chiron, known, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"kind": "fact"}\n')
    for arguments, code, words in [
        (("export", "birds", "--subject", "birds"), 2, "Name one thing"),
        (("export", "cats"), 1, "There is no subject 'cats'"),
        (("export", "--format", "csv", "--with-snapshots"), 2, "--with-snapshots needs --format jsonl"),
        (("import", "none.jsonl"), 2, "none.jsonl cannot be read: No such file"),
        (("import", "bad.jsonl"), 2, "Line 1:"),
        (("import", "bad.jsonl", "--subject", "?"), 2, "must be a name"),
    ]:
        found = chiron(*arguments)
        assert (found.exit_code, found.stderr.count("\n")) == (code, 1)
        assert words in found.stderr
