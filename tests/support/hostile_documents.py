"""Documents that are small and stand for much, for the members of tests/hostile."""

import io
import zipfile
from pathlib import Path

GARDEN = Path(__file__).parents[1] / "golden" / "garden.docx"
LAUGHS = ["a0: &a0 [ha, ha]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]


def nested_rows(depth: int) -> bytes:
    """A Word document whose one table holds tables within tables."""
    start, end = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>deep words</w:t></w:r></w:p>", "</w:tc></w:tr></w:tbl>"
    body = start * depth + end * depth
    out = io.BytesIO()
    with zipfile.ZipFile(GARDEN) as garden, zipfile.ZipFile(out, "w") as made:
        for name in garden.namelist():
            content = garden.read(name)
            if name == "word/document.xml":
                head = content.partition(b"<w:body>")[0]
                content = head + b"<w:body>" + body.encode() + b"</w:body></w:document>"
            made.writestr(name, content)
    return out.getvalue()


def front_matter(*lines: str) -> bytes:
    """A Markdown file with this front matter."""
    return "\n".join(["---", *lines, "---", "# Tides", "", "They rise and fall."]).encode()
