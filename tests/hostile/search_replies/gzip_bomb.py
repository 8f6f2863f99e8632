"""Half a gigabyte of spaces in half a megabyte."""

import gzip

BODY = gzip.compress(b" " * 500_000_000, compresslevel=1)
HEADERS = {"Content_Encoding": "gzip"}
