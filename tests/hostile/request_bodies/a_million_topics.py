"""Ten times as many topics as a batch may have."""

import json

PATH = "/v1/batches"
BODY = json.dumps({"subject": "x", "topics": ["x"] * 1_000_000}).encode()
