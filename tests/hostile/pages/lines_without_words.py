"""White space alone between two words."""

TYPE = "text/plain"
TIMES = (800_000, 2_400_000)


def content(times: int) -> bytes:
    return b"The tide" + b" \n" * times + b"rises."
