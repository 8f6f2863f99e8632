"""JSON that is written out a value a line."""

NAME = "a.json"
CONTENT = b"[" + b"1," * 10_000_000 + b"1]"
