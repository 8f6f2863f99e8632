"""Fifty accents on a letter."""

QUOTE = "The tide rises and falls twice a day in most places."
TEXT = ("a" + "\u0301" * 50) * 60_000
