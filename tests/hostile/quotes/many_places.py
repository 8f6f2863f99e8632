"""The quote begins in each of a hundred thousand places."""

QUOTE = "The tide rises and falls twice a day in most places."
TEXT = "The tide rises and falls twice a day in most place. " * 60_000
