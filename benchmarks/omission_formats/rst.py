"""reStructuredText: each kind of block, role and directive."""

from collections.abc import Sequence
from random import Random

from chiron_workers.documents.document import Document
from chiron_workers.documents.html_elements import STRUCK
from chiron_workers.documents.omissions import Mark
from chiron_workers.documents.rst import SKIPPED_DIRECTIVES, UNKNOWN, WORDED_DIRECTIVES, read_rst

from .trial import Format, Probe

PARTS = {
    "section": "{0} and more\n============================\n",
    "paragraph": "A paragraph of {0}.\n",
    "emphasis": "It is *{0}* here.\n",
    "strong": "It is **{0}** here.\n",
    "literal": "It is ``{0}`` here.\n",
    "literal block": "An example::\n\n    {0}\n",
    "reference": "It is `{0}`_ here.\n\n.. _{0}: https://example.org\n",
    "role": "It is :term:`{0}` here.\n",
    "deleted role": "It is :del:`{0}` here.\n",
    "raised role": "It is 10 :sup:`{0}` here.\n",
    "bullet": "- {0}\n",
    "number": "1. {0}\n",
    "term": "quay\n    {0}\n",
    "field": "A list of fields.\n\n:quay: {0}\n",
    "quotation": "It is said:\n\n    {0}\n",
    "table": "=====  =============\nquay   east\n=====  =============\n1      {0}\n=====  =============\n",
    "note": ".. note:: {0}\n",
    "image": ".. image:: a.png\n   :alt: {0}\n",
    "image without text": ".. image:: plans/a.png\n",
    "figure": ".. figure:: a.png\n   :alt: quay\n\n   {0}\n",
    "figure without text": ".. figure:: a.png\n",
    "formula": ".. math:: {0}\n",
    "raw": ".. raw:: html\n\n   <b>{0}</b>\n",
    "included file": ".. include:: {0}.txt\n",
    "footnote": "It is [#]_ here.\n\n.. [#] {0}\n",
    "substitution": "It is |{0}| here.\n\n.. |{0}| replace:: {0}\n",
    **{name: f".. {name}:: {{0}}\n" for name in sorted(WORDED_DIRECTIVES - {"class"})},
    "class": ".. class:: Quay({0})\n",
    **{name: f".. {name}::\n\n   {{0}}\n" for name, kind in sorted(SKIPPED_DIRECTIVES.items()) if kind},
}
KINDS = SKIPPED_DIRECTIVES | {
    "deleted role": STRUCK["del"],
    "image without text": Mark.PICTURE.value,
    "figure without text": Mark.PICTURE.value,
    "raw": Mark.UNKNOWN.value,
    "included file": Mark.UNKNOWN.value,
}


def build(probes: Sequence[Probe], chance: Random) -> bytes:
    """A file with each probe in a place of its own, among paragraphs."""
    parts = ["Harbour\n=======\n"]
    for probe in probes:
        pattern = PARTS.get(
            probe.element,
            f"{probe.before}\n\n.. {probe.element}::\n   :size: 7\n\n   {{0}}\n\n{probe.behind}\n",
        )
        parts += [pattern.format(probe.words), f"The quay has {chance.randint(2, 900)} places for ships.\n"]
    return "\n".join(parts).encode()


def _read(data: bytes) -> Document:
    return read_rst(data.decode())


def _unknown(chance: Random) -> str:
    return "zz" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))


def _kind_of(element: str) -> str:
    return KINDS.get(element, UNKNOWN if element not in PARTS else "")


FORMAT = Format("reStructuredText", tuple(PARTS), build, _read, _unknown, _kind_of)
