"""Lessons as documents: Markdown, HTML, JSON. What is in them is what `knowledge/lessons` reads."""
