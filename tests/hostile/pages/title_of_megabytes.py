"""A title and a description as long as the page."""

BODY = (
    b"<title>"
    + b"tide " * 800_000
    + b"</title><meta name=description content='"
    + b"ebb " * 800_000
    + b"'><p>Tide.</p>"
)
TYPE = "text/html"
