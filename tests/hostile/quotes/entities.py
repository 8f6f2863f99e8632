"""Entities within the quote."""

QUOTE = "&amp;" * 700 + " tide rises"
TEXT = "&" * 3_000_000 + " tide fell"
