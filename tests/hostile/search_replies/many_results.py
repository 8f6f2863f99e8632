"""As many results as the bytes hold."""

BODY = b'{"results": [' + b",".join(b'{"url": "http://a.example/%d"}' % n for n in range(50_000)) + b"]}"
