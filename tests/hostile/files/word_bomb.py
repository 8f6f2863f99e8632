"""A Word document whose one part stands for sixty megabytes, and for more than the memory that there is once it is read."""

from support.hostile_documents import word_document

SETTINGS = {"FILE_MEMORY_MB": "150"}
NAME = "a.docx"
CONTENT = word_document(b"<w:p><w:r><w:t>tide</w:t></w:r></w:p>" * 1_600_000)
