"""Markdown files: each kind of block and of inline text, and inline HTML."""

from collections.abc import Sequence
from random import Random

from chiron_workers.documents.document import Document
from chiron_workers.documents.html_elements import MARKS, STRUCK
from chiron_workers.documents.markdown import read_markdown
from chiron_workers.documents.omissions import Mark

from .trial import Format, Probe

PARTS = {
    "heading": "## {0}\n",
    "underlined heading": "{0} and more\n---\n",
    "paragraph": "A paragraph of {0}.\n",
    "emphasis": "It is *{0}* here.\n",
    "strong": "It is **{0}** here.\n",
    "strikethrough": "It is ~~{0}~~ here.\n",
    "deletion": "It is <del>{0}</del> here.\n",
    "code": "It is `{0}` here.\n",
    "fence": "```\n{0}\n```\n",
    "indented code": "    {0}\n",
    "link": "It is [{0}](https://example.org) here.\n",
    "autolink": "It is <https://example.org/{0}> here.\n",
    "reference": "It is [{0}][1] here.\n\n[1]: https://example.org\n",
    "image": "It is ![{0}](a.png) here.\n",
    "image without text": "It is ![](a.png) here.\n",
    "image of HTML": "It is <img src=a.png alt='{0}'> here.\n",
    "image of HTML without text": "It is <img src=a.png> here.\n",
    "bullet": "- {0}\n",
    "number": "7. {0}\n",
    "quotation": "> {0}\n",
    "table": "| quay | {0} |\n|---|---|\n| 1 | 2 |\n",
    "cell": "| quay | east |\n|---|---|\n| 1 | {0} |\n",
    "superscript": "It is <sup>{0}</sup> here.\n",
    "subscript": "It is <sub>{0}</sub> here.\n",
    "quoted words": "It is <q>{0}</q> here.\n",
    "drawing": "It is <svg>{0}</svg> here.\n",
    "film": "It is <video src=a.mp4>{0}</video> here.\n",
    "field": "It is <input> here.\n",
    "block of HTML": "<div><p>{0}</p></div>\n",
    "drawing in a block": "<div><p>It is <canvas>{0}</canvas> here.</p></div>\n",
    "entity": "It is &lt;{0}&gt; here.\n",
}
KINDS = {
    "strikethrough": STRUCK["del"],
    "deletion": STRUCK["del"],
    "image without text": Mark.PICTURE.value,
    "image of HTML without text": Mark.PICTURE.value,
    "drawing": MARKS["svg"].value,
    "film": MARKS["video"].value,
    "field": MARKS["input"].value,
    "drawing in a block": MARKS["canvas"].value,
}


def build(probes: Sequence[Probe], chance: Random) -> bytes:
    """A file with each probe in a place of its own, among paragraphs."""
    parts = ["# Harbour\n"]
    for probe in probes:
        pattern = PARTS.get(
            probe.element, f"There is {probe.before}<{probe.element}>{{0}}</{probe.element}>{probe.behind}.\n"
        )
        parts += [pattern.format(probe.words), f"The quay has {chance.randint(2, 900)} places for ships.\n"]
    return "\n".join(parts).encode()


def _read(data: bytes) -> Document:
    return read_markdown(data.decode())


def _unknown(chance: Random) -> str:
    return "x-" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))


def _kind_of(element: str) -> str:
    return KINDS.get(element, "")


FORMAT = Format("Markdown", tuple(PARTS), build, _read, _unknown, _kind_of)
