"""Half a gigabyte of zeros in half a megabyte."""

import gzip

BODY = gzip.compress(b"\0" * 500_000_000, compresslevel=1)
TYPE = "text/html"
HEADERS = {"Content_Encoding": "gzip"}
