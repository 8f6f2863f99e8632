import time

import pytest

from chiron_workers.documents.file_types import looks_like_html


@pytest.mark.parametrize(
    "head",
    [
        b"<!DOCTYPE html><p>",
        b"\xef\xbb\xbf\n<html lang=en>",
        b'<?xml version="1.0"?>\n<!-- a --> <!-- b\n -- c -->\n<html>',
        b"  <body>",
    ],
)
def test_a_page_is_known_by_its_first_bytes(head: bytes) -> None:
    assert looks_like_html(head)


@pytest.mark.parametrize(
    "head",
    [
        b"<!---->" * 600 + b"x",
        b"<!--" + b"-->  " * 600,
        b"<?xml" + b" " * 3_000,
        b"<?xml >" * 500,
        b" \n" * 2_000,
        b"<htmlx>",
    ],
)
def test_what_looks_nearly_like_a_page_is_told_from_one_at_once(head: bytes) -> None:
    began = time.process_time()
    assert not looks_like_html(head)
    assert time.process_time() - began < 1, "exponential backtracking holds the interpreter for ever"
