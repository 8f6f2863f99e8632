"""Letters to be composed."""

QUOTE = "The tide rises and falls twice a day in most places."
TEXT = "\u1112\u1161\u11ab" * 1_000_000
