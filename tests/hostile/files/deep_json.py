"""Lists in lists."""

NAME = "a.json"
CONTENT = b"[" * 2_000_000 + b"]" * 2_000_000
