"""Whatever bytes a file has: a text or a sentence, in time and within its memory. Nothing is raised but UnreadableError."""

import random
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.damaged_files import damaged

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.read_file import Part, read_file
from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed_sync

GOLDEN = Path(__file__).parents[1] / "golden"
NAMES = [
    "garden.pdf",
    "encrypted.pdf",
    "garden.docx",
    "garden.html",
    "beds.xlsx",
    "beds.xls",
    "beds.ods",
    "beds-utf16.tsv",
    "beds.parquet",
    "node-synopsis.json",
    "jansson-readme.rst",
]
ENDINGS = ["pdf", "docx", "xlsx", "html", "csv", "json", "jsonl", "md", "txt"]
BEGINNINGS = [
    b"",
    b"%PDF-1.7\n",
    b"PK\x03\x04",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"<html>",
    b"{",
    b"\xff\xfe",
]
LIMITS = Limits(timeout_s=20, memory_bytes=700_000_000)
FEW = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))


def outcome(data: bytes, name: str) -> str:
    """The text or the sentence that a file gives; fails the test if it takes longer than its limits."""
    began = time.monotonic()
    try:
        outcome = run_sandboxed_sync(partial(read_file, data, name, Part()), limits=LIMITS).text
    except UnreadableError as error:
        outcome = str(error)
    assert time.monotonic() - began < LIMITS.timeout_s + 30
    assert outcome
    return outcome


@pytest.mark.parametrize("name", NAMES)
@FEW
@given(data=st.data())
def test_a_file_that_is_cut_or_damaged_anywhere_is_survived(name: str, data: st.DataObject) -> None:
    outcome(damaged(GOLDEN / name, data, places_max=30), name)


@FEW
@given(
    data=st.builds(lambda start, seed, size: start + random.Random(seed).randbytes(size),
                   st.sampled_from(BEGINNINGS), st.integers(0, 2**32), st.integers(0, 20_000)),
    ending=st.sampled_from(ENDINGS),
)  # fmt: skip
def test_random_bytes_are_survived(data: bytes, ending: str) -> None:
    outcome(data, f"file.{ending}")


@FEW
@given(text=st.text(max_size=3_000), ending=st.sampled_from(ENDINGS))
def test_any_text_is_read(text: str, ending: str) -> None:
    outcome(text.encode(), f"file.{ending}")
