"""Elements in elements."""

BODY = b"<div>" * 900_000 + b"words"
TYPE = "text/html"
