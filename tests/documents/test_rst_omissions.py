"""What reStructuredText has no words for leaves a mark or is listed."""

import pytest

from chiron_workers.documents.omissions import Omission
from chiron_workers.documents.rst import read_rst


@pytest.mark.parametrize(
    ("source", "words", "left_out"),
    [
        (
            ".. image:: plans/quay.png",
            "[picture without text]",
            [Omission("picture without text", 1, "quay.png")],
        ),
        (
            ".. raw:: html\n\n   <b>7</b>",
            "[part that is not read]",
            [Omission("part that is not read", 1, "line 4")],
        ),
        (".. toctree::\n\n   a\n   b", "", [Omission("list of pages", 1, "line 4")]),
        (
            ".. zzchart::\n   :size: 7\n\n   Seven ships.",
            "Seven ships.",
            [Omission("unknown directive", 1, "zzchart, line 4")],
        ),
        (
            "It was :del:`never` often full.",
            "It was often full.",
            [Omission("passage that is struck out", 1, "line 4")],
        ),
        (".. class:: Quay(length)\n\n   A place for ships.", "Quay(length)\n\nA place for ships.", []),
        (".. py:function:: moor(ship)", "moor(ship)", []),
        (".. index:: quay", "", []),
        (
            ".. py:function:: moor(ship)\n\n.. raw:: html\n\n   <b>7</b>",
            "moor(ship)\n\n[part that is not read]",
            [Omission("part that is not read", 1, "line 6")],
        ),
    ],
)
def test_what_has_no_words_leaves_a_mark_or_is_listed(
    source: str, words: str, left_out: list[Omission]
) -> None:
    document = read_rst(f"Harbour\n=======\n\n{source}\n\nIt ends here.\n")
    assert document.text == "\n\n".join(filter(None, ("Harbour", words, "It ends here.")))
    assert list(document.left_out) == left_out
