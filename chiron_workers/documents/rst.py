import io
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from docutils import nodes
from docutils.core import publish_doctree
from docutils.languages import en
from docutils.parsers.rst import Parser, directives, states
from docutils.utils import new_document, unescape

from chiron_workers.documents.document import Block, Document, author_name, compose, parse_date
from chiron_workers.documents.licences import licence_name
from chiron_workers.documents.plain import read_plain

SETTINGS = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "input_encoding": "unicode",
    "syntax_highlight": "none",
    "line_length_limit": 100_000,
}
DIRECTIVE = re.compile(r"^(?P<indent>[ \t]*)\.\.[ ]+(?P<name>[\w.:+-]+?)::(?:[ \t]+(?P<argument>.*))?$")
OPTION = re.compile(r"^[ \t]+:[\w-]+:")
TARGET = re.compile(r"\s*<[^<>]*>$")
# Sphinx directives that hold no prose, that hold verbatim text, and whose name is part of the sentence.
SILENT = {
    "toctree",
    "index",
    "highlight",
    "module",
    "currentmodule",
    "tabularcolumns",
    "only",
    "literalinclude",
}
VERBATIM = {
    "doctest",
    "testcode",
    "testoutput",
    "testsetup",
    "productionlist",
    "prompt",
    "ipython",
    "console",
}
SPOKEN = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
}


def read_rst(text: str, *, name: str = "") -> Document:
    """The words of a reStructuredText file, also one for Sphinx. Nothing in it is executed or included."""
    inliner = states.Inliner()
    # Set on the instance, since docutils takes its patterns from the class itself and not from its bases.
    inliner.interpreted = _interpreted  # type: ignore[method-assign]
    settings = {**SETTINGS, "warning_stream": io.StringIO()}
    tree = publish_doctree(
        "\n".join(_known(text)), parser=Parser(inliner=inliner), settings_overrides=settings
    )
    about = _docinfo(tree)
    found = replace(
        compose(_blocks(tree), title="", name=name),
        author=author_name(about.get("author")),
        published_at=parse_date(about.get("date")),
        licence=licence_name(about.get("license") or about.get("licence") or about.get("copyright")),
    )
    return found if found.blocks else read_plain(text, name=name)


def _docinfo(tree: nodes.document) -> dict[str, str]:
    """The fields at the head of a file by name, in small letters; not those of a Sphinx page's functions."""
    found: dict[str, str] = {}
    for info in tree.findall(nodes.docinfo):
        for child in info.children:
            if isinstance(child, nodes.field):
                name, value = child.children[0].astext().lower(), child.children[1].astext()
            else:
                name, value = type(child).__name__, child.astext()
            found.setdefault(name, value)
    return found


def _interpreted(rawsource: str, text: str, role: str, lineno: int) -> Any:
    """Every role, known or not, as the words a reader would see."""
    words = TARGET.sub("", unescape(text)) or unescape(text)
    shown = words[1:].rpartition(".")[2] if words.startswith("~") else words.removeprefix("!")
    return [nodes.inline(rawsource, shown)], []


def _blocks(tree: nodes.document) -> Iterator[Block]:
    for complaint in list(tree.findall(nodes.system_message)):
        complaint.parent.remove(complaint)
    for node in tree.findall(nodes.TextElement):
        if isinstance(node.parent, nodes.TextElement) or isinstance(node, nodes.raw | nodes.comment):
            continue
        if isinstance(node, nodes.substitution_definition | nodes.target):
            continue
        verbatim = isinstance(node, nodes.FixedTextElement)
        words = node.astext()
        yield Block(words if verbatim else " ".join(words.split()), isinstance(node, nodes.title))


def _known(text: str) -> Iterator[str]:
    """The lines with directives that docutils does not know turned into paragraphs."""
    empty = new_document("")
    skipping: int | None = None
    options = False
    for line in text.expandtabs(8).splitlines():
        indent = len(line) - len(line.lstrip())
        if skipping is not None and (not line.strip() or indent > skipping):
            continue
        skipping = None
        if options and OPTION.match(line):
            continue
        options = False
        found = DIRECTIVE.match(line)
        if not found or directives.directive(found["name"].lower(), cast("Any", en), empty)[0]:
            yield line
        elif found["name"] in SILENT:
            skipping = indent
        else:
            yield from _paragraph(found)
            options = True


def _paragraph(found: re.Match[str]) -> list[str]:
    name, argument = found["name"], found["argument"] or ""
    words = f"{SPOKEN[name]} {argument}" if name in SPOKEN else argument
    if name in VERBATIM:
        words = "::"
    return ["", found["indent"] + words, ""]
