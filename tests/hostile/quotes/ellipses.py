"""Each character stands for three."""

QUOTE = "The tide rises and falls twice a day in most places."
TEXT = "…" * 5_000_000
