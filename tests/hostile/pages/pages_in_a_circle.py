"""A PDF whose pages are their own parents."""

from support.hostile_documents import pdf_of

BODY = pdf_of(
    b"<</Type/Catalog/Pages 2 0 R>>",
    b"<</Type/Pages/Count 2000000000/Kids[" + b"2 0 R " * 50_000 + b"]>>",
)
TYPE = "application/pdf"
