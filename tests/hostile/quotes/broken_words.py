"""Each place holds the letters of the quote, and not its words."""

QUOTE = "ab-cd " * 600
TEXT = "abc-\nd abcd ab-c d " * 150_000
