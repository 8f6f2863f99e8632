"""Cells that span more columns and rows than any table has."""

BODY = b"<table>" + b"<tr><td colspan=1000 rowspan=65534>tide</td></tr>" * 20_000 + b"</table>"
TYPE = "text/html"
