"""Word tables within tables."""

from support.hostile_documents import nested_rows

NAME = "a.docx"
CONTENT = nested_rows(70)
