"""More paragraphs than there is memory for."""

IS_LONG = True
SETTINGS = {"FILE_MEMORY_MB": "150"}
NAME = "a.html"
CONTENT = b"<html><body>" + b"<p>a b</p>" * 200_000
