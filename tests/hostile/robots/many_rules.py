"""As many rules as the bytes hold."""

BODY = b"User-agent: *\n" + b"Disallow: /%ff$*x\n" * 25_000
PATH = "/a"
