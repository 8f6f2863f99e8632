"""Each of them is an error."""

import json

PATH = "/v1/batches"
TIMES = (150_000, 700_000)


def content(times: int) -> bytes:
    return json.dumps({"subject": "x", "topics": ["x"]} | {f"a{n}": n for n in range(times)}).encode()
