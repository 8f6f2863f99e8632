"""Numbers of a million digits."""

TOOL = "store_knowledge"
ARGUMENTS = {"source_score": "9" * 1_000_000, "confidence": "1," * 500_000}
