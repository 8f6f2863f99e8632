"""A character stands for eighteen."""

QUOTE = "The tide rises and falls twice a day in most places."
TIMES = (600_000, 2_000_000)


def content(times: int) -> str:
    return "\ufdfa" * times
