"""Anchors that stand for others, as author and licence."""

from support.hostile_documents import LAUGHS, front_matter

NAME = "a.md"
CONTENT = front_matter(*LAUGHS, "author: *a29", "licence: *a29")
