"""Each of them is an error."""

import json

PATH = "/v1/batches"
BODY = json.dumps({"subject": "x", "topics": ["x"]} | {f"a{n}": n for n in range(700_000)}).encode()
