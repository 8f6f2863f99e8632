"""Deeper than a program can follow."""

PATH = "/v1/tools/store_knowledge"
BODY = b'{"content": ' + b"[" * 400_000 + b"]" * 400_000 + b"}"
