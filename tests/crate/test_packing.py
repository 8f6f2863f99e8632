"""What `chiron report --format crate` writes."""

import hashlib
import json
import zipfile

import pytest
from support.crate_files import METADATA, document, entity, read_files

from chiron_api.reports.crate.options import PackingOptions
from chiron_api.reports.crate.packing import pack
from chiron_api.reports.crate.privacy import TextChoice, is_public
from chiron_api.reports.crate.verification import verify
from chiron_api.reports.gathering import gather
from chiron_workers.errors import UsageError


async def packed(research, pool, target, *, texts=TextChoice.PUBLIC, force=False) -> str:
    report = await gather(pool, research.batch, with_selections=True)
    return await pack(pool, report, target, PackingOptions(texts, force))


def test_the_metadata_is_an_ro_crate_whose_references_resolve(files):
    metadata = document(files, METADATA)
    assert metadata["@context"][0] == "https://w3id.org/ro/crate/1.1/context"
    descriptor = entity(metadata, METADATA)
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    assert descriptor["about"] == {"@id": "./"}
    root = entity(metadata, "./")
    assert {"name", "description", "datePublished", "license"} <= root.keys()
    assert {part["@id"] for part in root["hasPart"]} == files.keys() - {METADATA}
    ids = {entry["@id"] for entry in metadata["@graph"]}
    references = {
        reference["@id"]
        for entry in metadata["@graph"]
        for value in entry.values()
        for reference in (value if isinstance(value, list) else [value])
        if isinstance(reference, dict)
    }
    assert references - ids == {"https://w3id.org/ro/crate/1.1"}
    assert all("@type" in entry for entry in metadata["@graph"])


def test_a_text_names_its_sources_and_their_licence(files):
    metadata = document(files, METADATA)
    text = next(
        entry
        for entry in metadata["@graph"]
        if entry["@id"].startswith("snapshots/") and b"survey of the ice" in files[entry["@id"]]
    )
    assert text["sha256"] == hashlib.sha256(files[text["@id"]]).hexdigest()
    source = entity(metadata, text["isBasedOn"]["@id"])
    assert (source["url"], source["name"], source["author"]) == ("https://a.org/ice?x=1", "Ice", "A. Ice")
    assert entity(metadata, source["license"]["@id"])["name"] == "CC BY 4.0"


def test_a_run_is_told_with_model_role_cost_and_times(files, whole_crate):
    metadata = document(files, METADATA)
    action = entity(metadata, f"#run-{whole_crate.run}")
    assert (action["startTime"], action["endTime"]) == (
        "2026-03-01T12:00:00+00:00",
        "2026-03-01T13:00:00+00:00",
    )
    assert action["actionStatus"] == "http://schema.org/CompletedActionStatus"
    assert [entity(metadata, tool["@id"])["name"] for tool in action["instrument"]] == [
        "Chiron",
        "claude-opus-5-5",
    ]
    properties = [entity(metadata, place["@id"]) for place in action["additionalProperty"]]
    values = {entry["name"]: entry["value"] for entry in properties}
    assert (values["role"], values["spent_usd"], values["output_tokens"]) == ("research", 0.5, 300)


def test_quotes_are_web_annotations_of_the_texts(files):
    collection = document(files, "annotations.jsonld")
    assert collection["@context"] == "http://www.w3.org/ns/anno.jsonld"
    assert collection["total"] == len(collection["first"]["items"]) == 7
    for item in collection["first"]["items"]:
        text = files[item["target"]["state"]["cached"]].decode()
        words, place = item["target"]["selector"]
        assert text[place["start"] : place["end"]] == words["exact"]


async def test_texts_of_ones_own_stay_at_home_unless_they_are_asked_for(research, pool, tmp_path):
    sentence = await packed(research, pool, tmp_path / "public.zip")
    assert "2 texts of sources" in sentence
    assert "Left out: 2 texts" in sentence
    result = verify(tmp_path / "public.zip")
    assert (result.faults, result.texts, result.quotes, result.quotes_without_text) == ((), 2, 5, 2)
    sentence = await packed(research, pool, tmp_path / "none.zip", texts=TextChoice.NONE)
    assert "0 texts of sources" in sentence
    assert verify(tmp_path / "none.zip").quotes_without_text == 7
    with zipfile.ZipFile(tmp_path / "none.zip") as file:
        assert not [name for name in file.namelist() if name.startswith("snapshots/")]


async def test_no_crate_holds_a_password_or_a_key_of_an_address(research, pool, tmp_path):
    await packed(research, pool, tmp_path / "crate", texts=TextChoice.ALL)
    for name, content in read_files(tmp_path / "crate").items():
        assert b"TOPSECRET" not in content, name


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.org/x", True),
        ("http://93.184.216.34/", True),
        ("http://10.0.0.1/", False),
        ("http://[::1]/", False),
        ("http://localhost/", False),
        ("https://wiki.corp/", False),
        ("https://wiki.internal./x", False),
        ("https://printer.local/", False),
        ("https://intranet/", False),
        ("file:///home/me/a.md", False),
        ("corpus://x/a.md", False),
        ("mcp://server/x", False),
        ("The Art of Ducks", False),
        ("https://[::1", False),
    ],
)
def test_only_addresses_that_strangers_can_read_are_public(url, expected):
    assert is_public(url) is expected


async def test_a_crate_takes_the_place_of_one_by_force_alone_and_of_nothing_else(research, pool, tmp_path):
    target = tmp_path / "crate"
    await packed(research, pool, target)
    with pytest.raises(UsageError, match="--force"):
        await packed(research, pool, target)
    await packed(research, pool, target, texts=TextChoice.NONE, force=True)
    assert verify(target).texts == 0
    (target / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match="no crate of Chiron's"):
        await packed(research, pool, target, force=True)
    assert (target / "thesis.txt").read_text() == "mine"
    assert [place.name for place in tmp_path.iterdir()] == ["crate"]


async def test_a_crate_that_cannot_be_finished_leaves_what_was_there(research, pool, tmp_path, monkeypatch):
    target = tmp_path / "crate"
    await packed(research, pool, target)
    before = read_files(target)
    monkeypatch.setattr("chiron_api.reports.crate.packing.TOTAL_BYTES_MAX", 1_000)
    with pytest.raises(UsageError, match="too much for a crate"):
        await packed(research, pool, target, force=True)
    assert read_files(target) == before
    assert [place.name for place in tmp_path.iterdir()] == ["crate"]


async def test_a_batch_without_facts_is_a_sound_crate(shelf, pool, tmp_path):
    shelf.subject("empty", "Empty")
    report = await gather(pool, "empty", with_selections=True)
    await pack(pool, report, tmp_path / "empty", PackingOptions())
    assert verify(tmp_path / "empty").faults == ()


def test_the_report_is_in_it_for_people_and_programs(files):
    assert files["report.html"].startswith(b"<!doctype html>")
    assert json.loads(files["report.json"])["format"] == "chiron.report"
