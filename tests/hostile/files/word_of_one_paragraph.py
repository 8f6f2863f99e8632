"""A Word document with one paragraph of 300,000 runs."""

from support.hostile_documents import word_document

NAME = "a.docx"
TIMES = (100_000, 300_000)


def content(times: int) -> bytes:
    return word_document(b"<w:p>" + b"<w:r><w:t>t</w:t></w:r>" * times + b"</w:p>")
