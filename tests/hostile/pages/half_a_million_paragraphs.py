"""Half a million blocks, which take longer to read than a page may."""

IS_LONG = True
PARSE_S = 5
BODY = b"<html><body><h1>Tides</h1>" + b"<p>a b</p>" * 480_000
TYPE = "text/html"
