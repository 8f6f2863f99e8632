"""Each of them is an error."""

import json

PATH = "/v1/subscriptions"
BODY = json.dumps({"subject": "x", "cron": "x", "topics": [1] * 100_000}).encode()
