"""Cells that span more columns and rows than any table has."""

TYPE = "text/html"
TIMES = (5_000, 20_000)


def content(times: int) -> bytes:
    return b"<table>" + b"<tr><td colspan=1000 rowspan=65534>tide</td></tr>" * times + b"</table>"
