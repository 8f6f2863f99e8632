import json
import os
import resource
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from support.pseudo_terminal import output_in_terminal
from support.research_rows import Shelf


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
    assert (found["format"], found["version"], found["kind"]) == ("chiron.report", 2, "subject")
    assert found["sections"][0]["findings"][0]["content"] == "Ducks dive for food."
    assert found["sources"][0]["link"] == "https://example.org/a"
    assert chiron("report", "birds").stdout.startswith("# Birds\n")


def test_a_terminal_shows_the_report_rendered_and_its_source_on_request(
    run: UUID,
) -> None:
    rendered = output_in_terminal("report", str(run), environment=os.environ)
    assert "Ducks dive for food." in rendered
    assert not [mark for mark in ("**", "# What", "\\[", "\n> ") if mark in rendered]
    source = output_in_terminal("report", str(run), "--format", "md", environment=os.environ)
    assert source.startswith("# What do ducks do?")


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


@pytest.mark.parametrize("format", ["md", "html"])
def test_an_older_report_stays_whole_if_a_new_one_cannot_be_written(
    chiron, run, tmp_path, small_files, format
):
    report = tmp_path / "report"
    report.write_text("The older report.")
    failed = chiron("report", str(run), "--format", format, "--output", "report", "--force")
    assert (failed.exit_code, failed.stderr) == (1, "chiron: File too large: report.\n")
    assert report.read_text() == "The older report."
    assert [file.name for file in tmp_path.iterdir() if "report" in file.name] == ["report"]


@pytest.mark.parametrize(
    ("format", "cut_file"), [("obsidian", "notes/.chiron-report.json"), ("crate", "notes")]
)
def test_a_full_disk_names_a_file_and_a_later_try_needs_no_force(chiron, run, request, format, cut_file):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    request.getfixturevalue("small_files")
    command = ("report", str(run), "--format", format, "--output", "notes")
    failure = chiron(*command)
    assert failure.stderr.startswith("chiron: File too large: ")
    assert (failure.exit_code, failure.stderr.endswith(f"{cut_file}.\n")) == (1, True), failure
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert chiron(*command).exit_code == 0


@pytest.mark.parametrize("command", [("report", "birds"), ("export", "birds")])
def test_a_link_stays_and_the_file_that_it_leads_to_is_written(chiron, run, tmp_path, command):
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf/birds").write_text("Old.")
    link = tmp_path / "link"
    link.symlink_to("shelf/birds")
    assert chiron(*command, "-o", "link").exit_code == 2
    assert chiron(*command, "-o", "link", "--force").exit_code == 0
    assert (link.is_symlink(), "Ducks dive" in (tmp_path / "shelf/birds").read_text()) == (True, True)
    assert [file.name for file in (tmp_path / "shelf").iterdir()] == ["birds"]
    link.unlink()
    link.symlink_to("nowhere/birds")
    refused = chiron(*command, "-o", "link")
    assert (refused.exit_code, "There is no folder" in refused.stderr) == (2, True)


def test_a_folder_of_notes_is_written(chiron, run, tmp_path):
    said = chiron("report", str(run), "--format", "obsidian", "-o", "notes").stdout
    assert said == "3 notes written to notes; begin with notes/Index.md.\n"
    assert len(list((tmp_path / "notes/Questions").iterdir())) == 1


def test_wrong_calls_are_one_sentence(chiron, run):
    for arguments, code, words in [
        (("report",), 2, "Name one thing"),
        (("report", str(run), "--subject", "birds"), 2, "Name one thing"),
        (("report", str(run), "--format", "docx"), 2, "docx cannot be printed"),
        (("report", str(run), "-o", "no/such/file"), 2, "There is no folder no/such"),
    ]:
        found = chiron(*arguments)
        assert (found.exit_code, found.stderr.count("\n")) == (code, 1)
        assert words in found.stderr


def test_a_crate_is_written_and_checked(chiron, run, tmp_path):
    written = chiron("report", str(run), "--format", "crate", "-o", "ducks.zip")
    assert written.exit_code == 0, written.stderr
    assert written.stdout == "ducks.zip written: 1 fact, 0 texts of sources.\n"
    checked = chiron("verify", "ducks.zip")
    assert checked.stdout.startswith("1 fact, 0 quotes in 0 texts of 1 source, 1 run, 4 files.\n")
    assert checked.exit_code == 0
    refused = chiron("report", str(run), "--format", "crate", "-o", "ducks.zip")
    assert (refused.exit_code, refused.stderr) == (
        2, "chiron: ducks.zip exists. Choose another name, or overwrite it with --force.\n"
    )  # fmt: skip
    for arguments, words in (
        (("--format", "crate"), "Say with --output where the report goes"),
        (("--format", "md", "--texts", "all"), "--texts needs --format crate"),
        (("--format", "crate", "-o", "no/where"), "There is no folder no."),
        (("--format", "md", "--sign", "key"), "--sign needs --format crate"),
    ):
        refused = chiron("report", str(run), *arguments)
        assert (refused.exit_code, words in refused.stderr) == (2, True)


def test_a_crate_is_signed_with_a_key_file(chiron, run, tmp_path):
    key = Ed25519PrivateKey.generate()
    form = {"encoding": Encoding.PEM, "encryption_algorithm": NoEncryption()}
    (tmp_path / "key").write_bytes(key.private_bytes(format=PrivateFormat.OpenSSH, **form))
    (tmp_path / "key.pub").write_bytes(key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH))
    crate = ("report", str(run), "--format", "crate", "-o", "ducks.zip", "--sign")
    refused = chiron(*crate, "no-key")
    sentence = "chiron: The key file no-key cannot be read: No such file or directory.\n"
    assert (refused.exit_code, refused.stdout, refused.stderr) == (1, "", sentence)
    assert not (tmp_path / "ducks.zip").exists()
    written = chiron(*crate, "key")
    assert (written.exit_code, "Signed with the key SHA256:" in written.stdout) == (0, True), written.output
    checked = chiron("verify", "ducks.zip", "--key", "key.pub")
    assert (checked.exit_code, "no file was changed since." in checked.stdout) == (0, True), checked.output
