"""A Word document whose XML declares entities that stand for each other."""

from support.hostile_documents import LAUGHING_XML, word_document

NAME = "a.docx"
CONTENT = word_document(b"<w:p><w:r><w:t>&a29;</w:t></w:r></w:p>", prologue=LAUGHING_XML)
