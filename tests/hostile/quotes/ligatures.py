"""A character stands for eighteen."""

QUOTE = "The tide rises and falls twice a day in most places."
TEXT = "\ufdfa" * 2_000_000
