"""An error with as many words as the bytes hold."""

STATUS = 400
BODY = b"a " * 900_000
