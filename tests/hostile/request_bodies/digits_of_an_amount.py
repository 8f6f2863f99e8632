"""To round a decimal number to that many digits takes long."""

PATH = "/v1/batches"
BODY = b'{"subject": "x", "topics": ["x"], "budget_usd": "1e-' + b"9" * 1_000_000 + b'"}'
