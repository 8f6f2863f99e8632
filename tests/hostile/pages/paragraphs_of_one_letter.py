"""Half a million blocks."""

BODY = b"<html><body><h1>Tides</h1>" + b"<p>a b</p>" * 480_000
TYPE = "text/html"
