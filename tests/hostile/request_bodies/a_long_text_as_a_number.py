"""A long string where a number is meant."""

import json

PATH = "/v1/tools/store_knowledge"
BODY = json.dumps({"source_score": "9" * 500_000, "confidence": "1," * 200_000}).encode()
