"""A PDF of three streams, each of which stands for more than the memory that there is for it."""

from support.hostile_documents import pdf_of_repeats

SETTINGS = {"FILE_MEMORY_MB": "150"}
BODY = pdf_of_repeats(b"(tide) Tj ", times=16_000_000)
TYPE = "application/pdf"
