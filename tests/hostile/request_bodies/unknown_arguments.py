"""Each of them is a line of the refusal, and looked for among the known ones."""

import json

PATH = "/v1/tools/store_knowledge"
BODY = json.dumps({f"a{n}": n for n in range(50_000)}).encode()
