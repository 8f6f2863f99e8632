"""Two bytes for a number that takes dozens once it is read."""

PATH = "/v1/batches"
BODY = b'{"a": [' + b"1," * 8_000_000 + b"1]}"
