"""An element with a hundred thousand attributes, which takes longer than there is time for."""

PARSE_S = 1
BODY = (
    b"<p " + b" ".join(b"a%d=b" % n for n in range(100_000)) + b">The tide rises and falls twice a day.</p>"
)
TYPE = "text/html"
