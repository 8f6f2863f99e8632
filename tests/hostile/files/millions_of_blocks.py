"""More paragraphs than there is memory for by default."""

IS_LONG = True
NAME = "a.html"
CONTENT = b"<html><body>" + b"<p>a b</p>" * 900_000
