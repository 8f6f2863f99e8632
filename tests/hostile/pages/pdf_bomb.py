"""A PDF of three streams that stand for a gigabyte each."""

from support.hostile_documents import pdf_of_repeats

BODY = pdf_of_repeats(b"(tide) Tj ", times=100_000_000)
TYPE = "application/pdf"
