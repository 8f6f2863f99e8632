"""Marks that begin links, emphasis and quotations, and never end them."""

NAME = "a.md"
CONTENT = b"[" * 300_000 + b"\n\n" + b"*_" * 300_000 + b"\n\n" + b">" * 300_000 + b"\n\n" + b"`" * 300_000
