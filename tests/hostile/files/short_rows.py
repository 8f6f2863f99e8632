"""Millions of rows."""

NAME = "a.csv"
TIMES = (300_000, 2_000_000)


def content(times: int) -> bytes:
    return b"a,b\n" + b"1,2\n" * times
