"""Addresses of hundreds of thousands of characters."""

import json

URLS = [
    "http://" + "a." * 100_000,
    "http://[" + ":" * 200_000,
    "http://a/" + "../" * 70_000,
    "http://a/?" + "a&" * 100_000,
]
BODY = json.dumps({"results": [{"url": url, "title": "tide"} for url in URLS]}).encode()
