"""Half a gigabyte of zeros in half a megabyte."""

from support.hostile_documents import gzip_of_repeats

BODY = gzip_of_repeats(b"\0" * 1_000_000, times=500)
TYPE = "text/html"
HEADERS = {"Content_Encoding": "gzip"}
