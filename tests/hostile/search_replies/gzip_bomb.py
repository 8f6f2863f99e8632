"""Half a gigabyte of spaces in half a megabyte."""

from support.hostile_documents import gzip_of_repeats

BODY = gzip_of_repeats(b" " * 1_000_000, times=500)
HEADERS = {"Content_Encoding": "gzip"}
