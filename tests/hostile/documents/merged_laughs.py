"""Anchors that stand for others, merged into an object."""

from support.hostile_documents import LAUGHS, front_matter

NAME = "a.md"
CONTENT = front_matter(*LAUGHS, "title: {<<: *a29}")
