import json
import os

import pytest
from support import bare_interpreter
from support.crate_files import claim_other_version, repair_hashes, write_zip
from typer.testing import CliRunner

from chiron_api.cli import build
from chiron_api.crate.evidence import is_of_the_gate
from chiron_api.reports.crate.verification import verify
from chiron_workers.evidence.quotes.quotes import locate

SOUND = "No fault: every quote is in its snapshot; statements, scores and answers are the author's.\n"
HEAVY = (
    "psycopg",
    "anthropic",
    "celery",
    "redis",
    "aiohttp",
    "onnxruntime",
    "starlette",
    "chiron_workers.settings",
)
ALONE = """
import os, socket, sys
def refuse(*arguments, **names):
    raise SystemExit("a connection was opened")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
os.chdir({folder!r})
sys.argv = ["chiron", "verify", {path!r}]
from chiron_api.cli import main
main()
"""


def run_verify(*arguments: str):
    return CliRunner().invoke(build(), ["verify", *arguments])


def test_a_sound_crate_passes_as_folder_and_as_zip_file(crate, files, tmp_path):
    for path in (crate, write_zip(files, tmp_path / "crate.zip")):
        answer = run_verify(str(path))
        assert answer.exit_code == 0, answer.output
        assert answer.stdout.startswith("7 facts, 7 quotes in 4 texts of 5 sources, 2 runs, 8 files.\n")
        assert answer.stdout.endswith(SOUND)


def test_it_runs_without_database_network_and_heavy_imports(crate, tmp_path):
    environment = {
        "PATH": os.environ["PATH"],
        "CHIRON_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/x",
        "HOME": str(tmp_path),
    }
    outcome = bare_interpreter.run(ALONE.format(folder=str(tmp_path), path=str(crate)), env=environment)
    assert (outcome.code, outcome.errors) == (0, "")
    assert outcome.output.endswith(SOUND)
    assert [name for name in HEAVY if name in outcome.modules] == []


def test_faults_are_told_with_their_number_and_exit_code_1(files, tmp_path):
    for name in [name for name in files if name.startswith("snapshots/")]:
        files[name] += b"!"
    path = write_zip(files, tmp_path / "crate.zip")
    answer = run_verify(str(path))
    assert answer.exit_code == 1
    lines = answer.stdout.splitlines()
    assert sum(line.startswith("- ") for line in lines) == 10
    assert lines[-2:] == [
        "and 2 more faults; --json shows up to 1,000.",
        "Do not rely on this crate as it is.",
    ]
    result = json.loads(run_verify(str(path), "--json").stdout)
    assert (result["is_sound"], len(result["faults"]), result["facts"]) == (False, 12, 7)


def test_a_missing_text_is_a_fault_even_if_it_is_no_longer_listed(files, tmp_path):
    name = next(name for name in files if name.startswith("snapshots/"))
    metadata = json.loads(files["ro-crate-metadata.json"])
    metadata["@graph"] = [entry for entry in metadata["@graph"] if entry["@id"] != name]
    metadata["@graph"][1]["hasPart"] = [
        part for part in metadata["@graph"][1]["hasPart"] if part["@id"] != name
    ]
    files["ro-crate-metadata.json"] = json.dumps(metadata).encode()
    del files[name]
    [fault] = verify(write_zip(files, tmp_path / "crate.zip")).faults
    assert fault.startswith("The text ")
    assert fault.endswith(" that quotes rest on is missing.")


def test_a_quote_that_the_gate_would_not_take_is_a_fault(files, tmp_path):
    """Its words stand there, but "measure the freebo" is half a word, and nobody can say what it meant."""
    for name in ("report.json", "annotations.jsonld"):
        content = files[name].decode()
        content = content.replace(
            '"exact": "Satellites measure the freeboard of the ice."',
            '"exact": "Satellites measure the freebo"',
        )
        content = content.replace(
            '"quote": "Satellites measure the freeboard of the ice."',
            '"quote": "Satellites measure the freebo"',
        )
        files[name] = content.encode()
    for name in ("report.json", "annotations.jsonld"):
        document = json.loads(files[name])
        for target in targets_of(document):
            words, place = target["selector"]
            if words["exact"].endswith("freebo"):
                place["end"] = place["start"] + len(words["exact"])
                words["suffix"] = "ard of the ice."
        files[name] = json.dumps(document).encode()
    claim_other_version(files)
    repair_hashes(files)
    [fault] = verify(write_zip(files, tmp_path / "crate.zip")).faults
    assert "the quote gate would refuse its quote" in fault


def targets_of(value):
    if isinstance(value, dict):
        if value.get("selector"):
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from targets_of(entry)


@pytest.mark.parametrize("arguments", [("nothing.zip",), ("nothing",)])
def test_what_is_not_there_is_said_in_a_sentence(arguments):
    answer = run_verify(*arguments)
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert answer.stderr == f"chiron: {arguments[0]} cannot be read: No such file or directory.\n"


@pytest.mark.parametrize("quote", ["sender is not None:", "await asyncio.wait({self._sender})"])
def test_a_quote_that_the_gate_extended_to_lines_or_sentences_is_one_of_the_gate(quote):
    text = "class Queue:\n    if self._sender is not None:\n        await asyncio.wait({self._sender})\n" * 40
    match = locate(quote, text)
    assert match is None or is_of_the_gate(match.quote, text, match.start, match.end)
    assert not is_of_the_gate("sender is not No", text, 26, 42)
