"""A Word document whose one part stands for 370 megabytes."""

from support.hostile_documents import word_document

NAME = "a.docx"
CONTENT = word_document(b"<w:p><w:r><w:t>tide</w:t></w:r></w:p>" * 10_000_000)
