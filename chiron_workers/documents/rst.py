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

from chiron_workers.documents.authors import author_names
from chiron_workers.documents.document import Document, compose, parse_date
from chiron_workers.documents.licences import licence_name
from chiron_workers.documents.plain import read_plain
from chiron_workers.documents.rst_blocks import tree_blocks
from chiron_workers.documents.scripts import lower_words

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
RAISED_ROLES, LOWERED_ROLES = {"sup", "superscript"}, {"sub", "subscript"}
DELETED_ROLES = {"del", "deleted", "strike", "strikethrough", "s"}
# Sphinx directives without prose, those with verbatim text, and those whose name begins a sentence.
SKIPPED_DIRECTIVES = {
    "toctree",
    "index",
    "highlight",
    "module",
    "currentmodule",
    "tabularcolumns",
    "only",
    "literalinclude",
}
VERBATIM_DIRECTIVES = {
    "doctest",
    "testcode",
    "testoutput",
    "testsetup",
    "productionlist",
    "prompt",
    "ipython",
    "console",
}
VERSION_PHRASES = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
}


def read_rst(text: str, *, name: str = "") -> Document:
    """The text of a reStructuredText file, Sphinx directives included. Nothing is executed or included."""
    inliner = states.Inliner()
    # Set on the instance: docutils looks up patterns in the class itself and not in its bases.
    inliner.interpreted = _role_text  # type: ignore[method-assign]
    settings = {**SETTINGS, "warning_stream": io.StringIO()}
    tree = publish_doctree(
        "\n".join(_without_unknown_directives(text)),
        parser=Parser(inliner=inliner),
        settings_overrides=settings,
    )
    fields = _docinfo(tree)
    document = replace(
        compose(tree_blocks(tree), title="", name=name),
        authors=author_names(fields.get("author")),
        published_at=parse_date(fields.get("date")),
        licence=licence_name(fields.get("license") or fields.get("licence") or fields.get("copyright")),
    )
    return document if document.blocks else read_plain(text, name=name)


def _docinfo(tree: nodes.document) -> dict[str, str]:
    """The field list at the head of a file, by lower-case name; not the fields of Sphinx functions."""
    fields: dict[str, str] = {}
    for info in tree.findall(nodes.docinfo):
        for child in info.children:
            if isinstance(child, nodes.field):
                name, value = child.children[0].astext().lower(), child.children[1].astext()
            else:
                name, value = type(child).__name__, child.astext()
            fields.setdefault(name, value)
    return fields


def _role_text(rawsource: str, text: str, role: str, lineno: int) -> Any:
    """Render any role, known or not, as the text that a reader sees."""
    if role.lower() in RAISED_ROLES:
        return [nodes.superscript(rawsource, unescape(text))], []
    if role.lower() in LOWERED_ROLES:
        return [nodes.inline(rawsource, lower_words(unescape(text)))], []
    if role.lower() in DELETED_ROLES:
        return [nodes.inline(rawsource, "")], []
    words = TARGET.sub("", unescape(text)) or unescape(text)
    label = words[1:].rpartition(".")[2] if words.startswith("~") else words.removeprefix("!")
    return [nodes.inline(rawsource, label)], []


def _without_unknown_directives(text: str) -> Iterator[str]:
    """Turn directives that docutils does not know into paragraphs, or leave them out."""
    empty = new_document("")
    skipped_indent: int | None = None
    in_options = False
    for line in text.expandtabs(8).splitlines():
        indent = len(line) - len(line.lstrip())
        if skipped_indent is not None and (not line.strip() or indent > skipped_indent):
            continue
        skipped_indent = None
        if in_options and OPTION.match(line):
            continue
        in_options = False
        match = DIRECTIVE.match(line)
        if not match or directives.directive(match["name"].lower(), cast("Any", en), empty)[0]:
            yield line
        elif match["name"] in SKIPPED_DIRECTIVES:
            skipped_indent = indent
        else:
            yield from _directive_paragraph(match)
            in_options = True


def _directive_paragraph(match: re.Match[str]) -> list[str]:
    name, argument = match["name"], match["argument"] or ""
    words = f"{VERSION_PHRASES[name]} {argument}" if name in VERSION_PHRASES else argument
    if name in VERBATIM_DIRECTIVES:
        words = "::"
    return ["", match["indent"] + words, ""]
