"""Hundreds of thousands of errors of one topic."""

import json

PATH = "/v1/batches"
TIMES = (150_000, 700_000)


def content(times: int) -> bytes:
    return json.dumps({"subject": "x", "topics": [{f"a{n}": n for n in range(times)}]}).encode()
