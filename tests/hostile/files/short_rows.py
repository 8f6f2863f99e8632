"""Millions of rows."""

NAME = "a.csv"
CONTENT = b"a,b\n" + b"1,2\n" * 2_000_000
