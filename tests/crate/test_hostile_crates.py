"""What somebody hands over as a crate is refused in one sentence, and nothing of it is written or run."""

import json
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from support.crate_files import METADATA, Files, document, put, write_zip

from chiron_api.crate.archive import CrateRefused
from chiron_api.reports.crate.verification import verify


def add(files: Files, place: Path, member: zipfile.ZipInfo | str, content: bytes = b"x") -> Path:
    write_zip(files, place)
    with zipfile.ZipFile(place, "a") as file:
        file.writestr(member, content)
    return place


def refusal(path: Path) -> str:
    with pytest.raises(CrateRefused) as refused:
        verify(path)
    [sentence] = str(refused.value).splitlines()
    assert len(sentence) < 600
    return sentence


@pytest.mark.parametrize(
    "name",
    ["../evil.txt", "/etc/passwd", "snapshots/../../evil.txt", "C:\\evil.txt", "..\\evil.txt", "a//b", "./report.json", "a:b",
     "x\x1b[31m", "n" * 300],
)  # fmt: skip
def test_names_that_lead_out_of_the_crate_are_refused(files, tmp_path, name):
    assert "no name of a file within a crate" in refusal(add(files, tmp_path / "x.zip", name))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["report.json", "REPORT.json"])
def test_a_name_that_is_there_twice_is_refused(files, tmp_path, name):
    assert "twice" in refusal(add(files, tmp_path / "x.zip", name))


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_a_link_in_a_zip_file_is_refused(files, tmp_path, mode):
    member = zipfile.ZipInfo("snapshots/link.txt")
    member.external_attr = (mode | 0o777) << 16
    assert "link" in refusal(add(files, tmp_path / "x.zip", member, b"/etc/passwd"))


@pytest.mark.parametrize("name", ["snapshots/link.txt", "linked"])
def test_a_link_in_a_folder_is_refused(crate, tmp_path, name):
    (tmp_path / "outside").mkdir()
    (crate / name).symlink_to(tmp_path / "outside")
    assert "link" in refusal(crate)


def test_a_text_that_a_link_stands_in_for_is_refused(crate, tmp_path):
    text = next((crate / "snapshots").iterdir())
    text.rename(tmp_path / "text")
    text.symlink_to(tmp_path / "text")
    assert "link" in refusal(crate)


@pytest.mark.parametrize(
    ("offset", "value", "words"),
    [(24, 2**31 - 1, "too large"), (8, 1, "encrypted"), (10, 12, "packed")],
    ids=["size", "encryption", "method"],
)
def test_a_file_of_immense_size_or_that_cannot_be_read_is_refused(files, tmp_path, offset, value, words):
    path = write_zip(files, tmp_path / "x.zip")
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x01\x02")
    size = 4 if offset == 24 else 2
    content[at + offset : at + offset + size] = value.to_bytes(size, "little")
    path.write_bytes(content)
    assert words in refusal(path)


def test_a_bomb_is_not_unpacked(files, tmp_path):
    path = write_zip(files, tmp_path / "x.zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as file, file.open("bomb.txt", "w") as member:
        for _ in range(201):
            member.write(bytes(1024**2))
    assert path.stat().st_size < 1_000_000
    assert "too large" in refusal(path)


def test_more_bytes_than_the_header_says_are_refused(files, tmp_path):
    files[METADATA] = files[METADATA] + b" " * 1000
    path = write_zip(files, tmp_path / "x.zip")
    content = path.read_bytes()
    size = struct.pack("<I", len(files[METADATA]))
    path.write_bytes(content.replace(size, struct.pack("<I", 100)))
    refusal(path)


def test_a_list_of_files_that_would_fill_the_memory_is_refused(files, tmp_path):
    path = write_zip(files, tmp_path / "x.zip")
    content = bytearray(path.read_bytes())
    at = content.rindex(b"PK\x05\x06")
    content[at + 12 : at + 16] = struct.pack("<I", 2**31)
    path.write_bytes(content)
    assert "too many files" in refusal(path)


HOSTILE_JSON = [
    b"",
    b"null",
    b"[]",
    b"{",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"@graph": ' + b"[" * 1_000 + b"]" * 1_000 + b"}",
    b"1" * 100_000,
    b'{"@graph": [{"@id": 1}]}',
    b'{"@graph": [{"@id": "a"}, {"@id": "a"}]}',
    b'{"@graph": [null]}',
    b'{"@graph": {"\\ud800\\u001b[31m": NaN}}',
    b"[" + b"0," * 6_000_000 + b"0]",
    b'{"@graph": [' + b"0," * 1_000_000 + b"0]}",
    b'{"first": {"items": [' + b"0," * 1_000_000 + b"0]}}",
    b'{"@graph": [], "' + b"x" * 100_000 + b'": 1}',
]


@pytest.mark.parametrize("name", [METADATA, "report.json", "annotations.jsonld"])
@pytest.mark.parametrize("content", HOSTILE_JSON, ids=range(len(HOSTILE_JSON)))
def test_hostile_json_is_refused_in_one_sentence(files, tmp_path, name, content):
    path = write_zip(files | {name: content}, tmp_path / "x.zip")
    try:
        result = verify(path)
    except CrateRefused as refused:
        assert len(str(refused).splitlines()) == 1
        assert "\x1b" not in str(refused)
    else:
        assert result.faults


@pytest.mark.parametrize("change", ["types", "depth", "numbers"])
def test_a_report_with_odd_values_is_refused_or_at_fault(files, tmp_path, change):
    report = document(files, "report.json")
    finding = report["sections"][0]["findings"][0]
    if change == "types":
        finding["number"] = "1"
    elif change == "depth":
        finding["citations"] = [[[{}]]]
    else:
        finding["number"] = 10**30
    put(files, "report.json", report)
    assert refusal(write_zip(files, tmp_path / "x.zip")).startswith("report.json: ")


@pytest.mark.parametrize("kind", ["empty", "text", "empty zip", "empty folder", "cut"])
def test_what_is_no_crate_is_said_to_be_none(files, tmp_path, kind):
    path = tmp_path / "x.zip"
    if kind == "empty folder":
        path.mkdir()
    elif kind == "empty zip":
        write_zip({}, path)
    else:
        whole = write_zip(files, path).read_bytes()
        path.write_bytes({"empty": b"", "text": b"Hello.", "cut": whole[: len(whole) // 2]}[kind])
    refusal(path)


def test_a_folder_in_a_folder_in_a_crate_is_refused(crate):
    (crate / "snapshots" / "a" / "b").mkdir(parents=True)
    refusal(crate)


def test_the_metadata_may_name_what_it_likes_and_nothing_outside_is_read(files, tmp_path):
    metadata = json.loads(files[METADATA])
    metadata["@graph"][1]["hasPart"].append({"@id": "../../../etc/passwd"})
    metadata["@graph"].append(
        {"@id": "../../../etc/passwd", "@type": "File", "sha256": "0" * 64, "contentSize": "1"}
    )
    put(files, METADATA, metadata)
    assert "../../../etc/passwd is missing." in verify(write_zip(files, tmp_path / "x.zip")).faults
