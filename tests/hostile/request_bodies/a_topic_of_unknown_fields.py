"""Hundreds of thousands of errors of one topic."""

import json

PATH = "/v1/batches"
BODY = json.dumps({"subject": "x", "topics": [{f"a{n}": n for n in range(700_000)}]}).encode()
