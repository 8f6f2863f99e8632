"""Many short blocks, and a text as long as may be read."""

BODY = b"<html><body><h1>Tides</h1>" + b"<p>a b</p>" * 60_000 + b"<p>" + b"a b " * 500_000 + b"</p>"
TYPE = "text/html"
