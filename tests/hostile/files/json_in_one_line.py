"""JSON that is written out a value a line."""

NAME = "a.json"
TIMES = (1_500_000, 10_000_000)


def content(times: int) -> bytes:
    return b"[" + b"1," * times + b"1]"
