"""Snippets full of tags, entities and white space that nothing ends."""

import json

SNIPPETS = ["<" * 300_000, "&" * 300_000, " \n" * 150_000, "<b" * 150_000, "<!--" * 75_000]
RESULTS = [
    {"url": f"http://a.example/{n}", "title": text, "content": text} for n, text in enumerate(SNIPPETS)
]
BODY = json.dumps({"results": RESULTS[:3]}).encode()
