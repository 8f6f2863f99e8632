"""Brackets that nobody closes."""

from support.hostile_documents import front_matter

NAME = "a.md"
CONTENT = front_matter("title: " + "[" * 2_000)
