"""Each of them is a line of the refusal."""

import json

PATH = "/v1/tools/store_knowledge"
BODY = json.dumps({"contradictions": [[]] * 19_000}).encode()
