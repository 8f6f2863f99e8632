"""The answer names the field."""

import json

PATH = "/v1/knowledge/search"
BODY = json.dumps({"a" * 1_000_000: 1}).encode()
