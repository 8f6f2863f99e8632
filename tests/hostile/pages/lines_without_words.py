"""White space alone between two words."""

BODY = b"The tide" + b" \n" * 2_400_000 + b"rises."
TYPE = "text/plain"
