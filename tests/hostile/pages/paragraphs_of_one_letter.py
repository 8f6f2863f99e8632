"""Many short blocks, and a text as long as may be read."""

TYPE = "text/html"
TIMES = (15_000, 60_000)


def content(times: int) -> bytes:
    return b"<html><body><h1>Tides</h1>" + b"<p>a b</p>" * times + b"<p>" + b"a b " * 500_000 + b"</p>"
