"""A number of a million digits."""

BODY = b'{"results": [{"url": "http://a.example/", "title": ' + b"9" * 1_000_000 + b"}]}"
