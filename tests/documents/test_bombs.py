"""Small files that want to become large ones."""

import re
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path

import pytest

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.read_file import Part, read_file
from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed_sync

GOLDEN = Path(__file__).parents[1] / "golden"
LIMITS = Limits(timeout_s=10, memory_bytes=150_000_000)
LAUGHS = b'<!DOCTYPE x [<!ENTITY a "ha">' + b"".join(
    b'<!ENTITY %c "%s">' % (name, b"&%c;" % (name - 1) * 10) for name in range(ord("b"), ord("m"))
) + b"]>"  # fmt: skip


def changed(
    name: str, part: str, change: Iterator[bytes] | None = None, **replace: tuple[bytes, bytes]
) -> bytes:
    """A golden file in whose archive a part is other bytes, or has some replaced."""
    out = BytesIO()
    with (
        zipfile.ZipFile(GOLDEN / name) as whole,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made,
    ):
        for entry in whole.namelist():
            data = whole.read(entry)
            with made.open(entry, "w", force_zip64=True) as file:
                if entry == part and change is not None:
                    for piece in change:
                        file.write(piece)
                    continue
                for old, new in replace.values() if entry == part else ():
                    assert re.search(old, data)
                    data = re.sub(old, new, data, count=1)
                file.write(data)
    return out.getvalue()


def paragraphs() -> Iterator[bytes]:
    yield b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    for _ in range(150):
        yield b"<w:p><w:r><w:t>boom</w:t></w:r></w:p>" * 20_000


def depth() -> Iterator[bytes]:
    yield b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    yield b"<w:sdt>" * 200_000


BOMBS = {
    "paragraphs.docx": lambda: changed("garden.docx", "word/document.xml", paragraphs()),
    "depth.docx": lambda: changed("garden.docx", "word/document.xml", depth()),
    "laughs.docx": lambda: changed(
        "garden.docx", "word/document.xml", prolog=(rb"\?>", b"?>" + LAUGHS), text=(rb"Rake it", b"&l;")
    ),
    "corner.xlsx": lambda: changed(
        "beds.xlsx", "xl/worksheets/sheet1.xml", cell=(rb'r="A5"', b'r="XFD1048576"')
    ),
    "repeated.ods": lambda: changed(
        "beds.ods", "content.xml", row=(rb"<table:table-row ", b'<table:table-row table:number-rows-repeated="1000000" ')
    ),
    "strings.xlsx": lambda: changed(
        "beds.xlsx", "xl/sharedStrings.xml", (b"x" * 1_000_000 for _ in range(250))
    ),
    "mimetype.ods": lambda: changed("beds.ods", "mimetype", (b"x" * 1_000_000 for _ in range(250))),
    "nested.html": lambda: b"<html><body>" + b"<div>" * 1_000_000,
    "nested.json": lambda: b"[" * 5_000_000,
    "wide.csv": lambda: b"," * 300_000 + b"\n" + b"a,b\n" * 100_000,
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_in_a_text_or_a_sentence_within_its_room(name: str) -> None:
    data = BOMBS[name]()
    began = time.monotonic()
    try:
        outcome = run_sandboxed_sync(partial(read_file, data, name, Part()), limits=LIMITS).text
    except UnreadableError as error:
        outcome = str(error)
    assert outcome
    assert time.monotonic() - began < LIMITS.timeout_s + 30
