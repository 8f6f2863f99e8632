"""To read a decimal number takes quadratic time."""

PATH = "/v1/knowledge/search"
BODY = b'{"query": "x", "top_k": ' + b"9" * 1_000_000 + b"}"
