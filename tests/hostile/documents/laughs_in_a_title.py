"""Anchors that stand for others, as a title."""

from support.hostile_documents import LAUGHS, front_matter

NAME = "a.md"
CONTENT = front_matter(*LAUGHS, "title: *a29")
