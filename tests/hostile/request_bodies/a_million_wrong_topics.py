"""Each of them is an error, in two ways."""

PATH = "/v1/batches"
BODY = b'{"subject": "x", "topics": [' + b"1, " * 1_000_000 + b"1]}"
