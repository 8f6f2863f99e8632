"""Patterns that a matcher of patterns tries in every way."""

BODY = b"User-agent: *\n" + b"".join(b"Disallow: /" + b"*a" * n + b"b\n" for n in range(1, 700))
PATH = "/" + "a" * 1_900
