"""Tens of thousands of parts."""

RESULT = {"content": [{"type": "text", "text": "tide"}] * 80_000}
