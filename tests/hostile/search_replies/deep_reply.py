"""Objects in objects."""

BODY = b'{"results":' * 150_000 + b"1" + b"}" * 150_000
