"""A group for every name."""

BODY = b"".join(b"User-agent: a%d\nDisallow: /\n" % n for n in range(16_000))
PATH = "/a"
