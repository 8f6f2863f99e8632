"""As long as a message may be."""

RESULT = {"content": [{"type": "text", "text": "tide " * 780_000}]}
