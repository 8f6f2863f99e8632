"""Twelve errors of each of many topics."""

import json

PATH = "/v1/batches"
BODY = json.dumps({"subject": "x", "topics": [{f"a{n}": n for n in range(12)}] * 100_000}).encode()
