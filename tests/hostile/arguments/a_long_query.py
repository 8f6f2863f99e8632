"""A query of a million words."""

TOOL = "vector_search"
ARGUMENTS = {"query": "tide " * 400_000, "subject_id": "moon"}
