"""A Word document with one paragraph of 300,000 runs."""

from support.hostile_documents import word_document

NAME = "a.docx"
CONTENT = word_document(b"<w:p>" + b"<w:r><w:t>t</w:t></w:r>" * 300_000 + b"</w:p>")
