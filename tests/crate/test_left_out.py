"""A crate says what was left out of its sources, without words of one's own texts; its check compares report and metadata."""

import json

from support.crate_files import write_zip

from chiron_api.crate.evidence import is_of_the_gate
from chiron_api.reports.crate.verification import verify


def test_a_crate_carries_what_was_left_out_and_no_words_of_private_texts(files):
    report = json.loads(files["report.json"])
    gaps = {
        source["url"].partition(":")[0]: source["left_out"]
        for source in report["sources"]
        if source["left_out"]
    }
    assert gaps["https"] == [{"kind": "formula", "count": 3, "place": "“Dear diary, the secret station”"}]
    assert gaps["file"] == gaps["corpus"] == [{"kind": "formula", "count": 3, "place": ""}]
    assert any(source["left_out"] is None for source in report["sources"])
    entities = json.loads(files["ro-crate-metadata.json"])["@graph"]
    notes = {
        entity["description"]
        for entity in entities
        if entity["@id"].startswith("#source-") and "description" in entity
    }
    assert notes == {
        "Left out of its text: 3 formulas",
        "Left out of its text: 3 formulas (first: “Dear diary, the secret station”)",
    }


def test_a_list_that_differs_from_the_metadata_is_a_fault(files, tmp_path):
    report = json.loads(files["report.json"])
    number = next(source["number"] for source in report["sources"] if source["left_out"])
    report["sources"][number - 1]["left_out"][0]["count"] = 1
    files["report.json"] = json.dumps(report).encode()
    faults = verify(write_zip(files, tmp_path / "crate.zip")).faults
    assert f"Source {number} differs between ro-crate-metadata.json and the report." in faults


def test_a_report_of_a_version_before_has_no_list_and_is_sound(files, tmp_path):
    report, metadata = (json.loads(files[name]) for name in ("report.json", "ro-crate-metadata.json"))
    for source in report["sources"]:
        del source["left_out"]
    for entity in metadata["@graph"]:
        if entity["@id"].startswith("#source-"):
            entity.pop("description", None)
    files["report.json"] = json.dumps(report).encode()
    files["ro-crate-metadata.json"] = json.dumps(metadata).encode()
    faults = verify(write_zip(files, tmp_path / "crate.zip")).faults
    assert not [fault for fault in faults if "Source" in fault]


def test_a_quote_that_spans_a_mark_is_none_of_the_gate():
    text = "The daily dose is 5 [sign]g for an adult."
    assert not is_of_the_gate(text, text, 0, len(text))
    words = "The daily dose is 5 mg for an adult."
    assert is_of_the_gate(words, words, 0, len(words))
