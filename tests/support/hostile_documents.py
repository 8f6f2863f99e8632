"""Documents that are small and stand for much, for the members of tests/hostile."""

import functools
import gzip
import io
import struct
import zipfile
import zlib
from pathlib import Path

GARDEN = Path(__file__).parents[1] / "golden" / "garden.docx"
LAUGHING_XML = "".join(
    ["<!DOCTYPE w:document [<!ENTITY a0 'tide'>"]
    + [f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 30)]
    + ["]>"]
).encode()
LAUGHS = ["a0: &a0 [ha, ha]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]


def nested_rows(depth: int) -> bytes:
    """A Word document whose one table holds tables within tables."""
    start, end = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>deep words</w:t></w:r></w:p>", "</w:tc></w:tr></w:tbl>"
    return word_document((start * depth + end * depth).encode(), compression=zipfile.ZIP_STORED)


def word_document(body: bytes, *, prologue: bytes = b"", compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A Word document with this XML as its body, and one before its root."""
    out = io.BytesIO()
    with zipfile.ZipFile(GARDEN) as garden, zipfile.ZipFile(out, "w", compression) as made:
        for name in garden.namelist():
            content = garden.read(name)
            if name == "word/document.xml":
                head = content.partition(b"<w:body>")[0]
                declaration, end, root = head.partition(b"?>")
                head = declaration + end + prologue + root
                content = head + b"<w:body>" + body + b"</w:body></w:document>"
            made.writestr(name, content)
    return out.getvalue()


def pdf_of(*objects: bytes) -> bytes:
    """A PDF of these objects, the first of which is its catalogue."""
    parts = [b"%d 0 obj\n%s\nendobj\n" % (number, part) for number, part in enumerate(objects, start=1)]
    return (
        b"%PDF-1.7\n" + b"".join(parts) + b"trailer <</Root 1 0 R/Size %d>>\n%%%%EOF\n" % (len(objects) + 1)
    )


def pdf_of_repeats(words: bytes, *, times: int) -> bytes:
    """A PDF whose page shows words again and again: its stream is compressed twice."""
    packer = zlib.compressobj()
    many = words * 10_000
    once = b"".join(packer.compress(many) for _ in range(times // 10_000)) + packer.flush()
    stream = zlib.compress(once, 9)
    return pdf_of(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents[4 0 R 4 0 R 4 0 R]/Resources<<>>>>",
        b"<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n%s\nendstream" % (len(stream), stream),
    )


def gzip_of_repeats(piece: bytes, *, times: int) -> bytes:
    """A gzip stream that stands for a piece again and again, which is compressed once."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    once = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)  # what follows does not refer to it
    checksum = functools.reduce(lambda value, part: zlib.crc32(part, value), [piece] * times, 0)
    end = struct.pack("<II", checksum, len(piece) * times % 2**32)
    return gzip.compress(b"")[:10] + once * times + packer.flush() + end


def front_matter(*lines: str) -> bytes:
    """A Markdown file with this front matter."""
    return "\n".join(["---", *lines, "---", "# Tides", "", "They rise and fall."]).encode()
