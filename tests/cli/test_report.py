import json

import pytest
from shelf import Shelf

from chiron_workers.ids import new_id


@pytest.fixture
def run(chiron, database_url):
    """A run with one fact; its id."""
    shelf = Shelf(database_url)
    batch = shelf.batch(shelf.subject("birds", "Birds"), "Ducks")
    found = shelf.run("birds", batch, "What do ducks do?", answer="They swim.")
    shelf.fact("birds", "Ducks dive for food.", "https://example.org/a", "ducks/food", run_id=found)
    shelf.connection.close()
    return found


def test_a_report_is_printed_as_markdown_unless_another_text_is_wanted(chiron, run):
    said = chiron("report", str(run)).stdout
    assert said.startswith("# What do ducks do?\n")
    assert "**1.** Ducks dive for food." in said
    assert chiron("report", str(run), "--format", "html").stdout.startswith("<!doctype html>")
    found = json.loads(chiron("report", "--subject", "Birds", "-f", "json").stdout)
    assert (found["format"], found["version"], found["kind"]) == ("chiron.report", 1, "subject")
    assert found["sections"][0]["findings"][0]["content"] == "Ducks dive for food."
    assert found["sources"][0]["link"] == "https://example.org/a"
    assert chiron("report", "birds").stdout.startswith("# Birds\n")


@pytest.mark.parametrize(("format", "name"), [("md", "r.md"), ("docx", "r.docx"), ("html", "r.html")])
def test_a_file_is_written_and_not_overwritten_unless_told(chiron, run, tmp_path, format, name):
    arguments = ("report", str(run), "--format", format, "--output", name)
    assert chiron(*arguments).stdout == f"{name} written.\n"
    assert (tmp_path / name).stat().st_size > 500
    refused = chiron(*arguments)
    assert (refused.exit_code, refused.stderr) == (
        2, f"chiron: {name} exists. Choose another name, or overwrite it with --force.\n"
    )  # fmt: skip
    assert chiron(*arguments, "--force").exit_code == 0


def test_a_folder_of_notes_is_written(chiron, run, tmp_path):
    said = chiron("report", str(run), "--format", "obsidian", "-o", "notes").stdout
    assert said == "5 notes written to notes; begin with notes/Index.md.\n"
    assert (tmp_path / "notes/Topics/ducks.md").exists()


def test_wrong_calls_are_one_sentence(chiron, run):
    for arguments, code, words in [
        (("report",), 2, "Name one thing"),
        (("report", str(run), "--subject", "birds"), 2, "Name one thing"),
        (("report", str(run), "--format", "docx"), 2, "docx cannot be printed"),
        (("report", str(run), "-o", "no/such/file"), 2, "There is no folder no/such"),
        (("report", "cats"), 1, "There is no subject 'cats'"),
        (("report", "?"), 2, "must be a name"),
        (("report", str(new_id())), 1, "No batch and no run has the id"),
    ]:
        found = chiron(*arguments)
        assert (found.exit_code, found.stderr.count("\n")) == (code, 1)
        assert words in found.stderr
