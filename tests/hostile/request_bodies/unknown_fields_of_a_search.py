"""Each of them is an error."""

import json

PATH = "/v1/knowledge/search"
BODY = json.dumps({f"a{n}": n for n in range(50_000)}).encode()
