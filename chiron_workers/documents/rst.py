import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from docutils import nodes
from docutils.core import publish_doctree
from docutils.languages import en
from docutils.parsers.rst import Parser, directives, states
from docutils.utils import new_document, unescape

from chiron_workers.documents.authors import author_names
from chiron_workers.documents.document import Document, compose, parse_date
from chiron_workers.documents.html_elements import STRUCK
from chiron_workers.documents.licences import licence_name
from chiron_workers.documents.omissions import Omissions
from chiron_workers.documents.plain import read_plain
from chiron_workers.documents.rst_blocks import line_place, tree_blocks
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
# Sphinx directives whose content is not read, and what they are listed as; empty for those that have nothing to say.
SKIPPED_DIRECTIVES = {
    "toctree": "list of pages", "index": "", "highlight": "", "module": "", "currentmodule": "", "tabularcolumns": "",
    "only": "passage of some outputs", "literalinclude": "included file",
}  # fmt: skip
# Those whose argument and content are words, those with verbatim text, and those whose name begins a sentence.
WORDED_DIRECTIVES = {
    "acks", "attribute", "autoattribute", "autoclass", "autodata", "autoexception", "autofunction", "automethod", "automodule",
    "centered", "class", "classmethod", "cmdoption", "confval", "data", "decorator", "describe", "envvar", "exception",
    "function", "glossary", "hlist", "impl-detail", "method", "object", "opcode", "option", "pdbcommand", "property",
    "seealso", "sectionauthor", "staticmethod", "tab", "tabs", "term", "type",
}  # fmt: skip
UNKNOWN = "unknown directive"
PROGRAM_CLASS = re.compile(r"[A-Z(.]")
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
    omissions, inliner = Omissions(), states.Inliner()
    # Set on the instance: docutils looks up patterns in the class itself and not in its bases.
    lines = list(_without_unknown_directives(text, omissions))
    numbers = [number for number, _ in lines]
    inliner.interpreted = partial(_role_text, omissions, numbers)  # type: ignore[method-assign]
    settings = {**SETTINGS, "warning_stream": io.StringIO()}
    tree = publish_doctree(
        "\n".join(line for _, line in lines),
        parser=Parser(inliner=inliner),
        settings_overrides=settings,
    )
    fields = _docinfo(tree)
    document = replace(
        compose(tree_blocks(tree, omissions, numbers), title="", name=name),
        authors=author_names(fields.get("author")),
        published_at=parse_date(fields.get("date")),
        licence=licence_name(fields.get("license") or fields.get("licence") or fields.get("copyright")),
    )
    return replace(document, left_out=omissions.all()) if document.blocks else read_plain(text, name=name)


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


def _role_text(
    omissions: Omissions, numbers: Sequence[int], rawsource: str, text: str, role: str, lineno: int
) -> Any:
    """Render any role, known or not, as the text that a reader sees. `numbers` has the file's line for each that is parsed."""
    if role.lower() in RAISED_ROLES:
        return [nodes.superscript(rawsource, unescape(text))], []
    if role.lower() == "math":
        return [nodes.inline(rawsource, unescape(text, restore_backslashes=True))], []
    if role.lower() in LOWERED_ROLES:
        return [nodes.inline(rawsource, lower_words(unescape(text)))], []
    if role.lower() in DELETED_ROLES:
        omissions.add(STRUCK["del"], place=line_place(numbers, lineno))
        return [nodes.inline(rawsource, "")], []
    words = TARGET.sub("", unescape(text)) or unescape(text)
    label = words[1:].rpartition(".")[2] if words.startswith("~") else words.removeprefix("!")
    return [nodes.inline(rawsource, label)], []


def _without_unknown_directives(text: str, omissions: Omissions) -> Iterator[tuple[int, str]]:
    """The lines with their numbers. Directives that docutils does not know become paragraphs or go; what is lost is listed."""
    empty = new_document("")
    skipped_indent: int | None = None
    in_options = False
    for number, line in enumerate(text.expandtabs(8).splitlines(), start=1):
        indent = len(line) - len(line.lstrip())
        if skipped_indent is not None and (not line.strip() or indent > skipped_indent):
            continue
        skipped_indent = None
        if in_options and OPTION.match(line):
            continue
        in_options = False
        match = DIRECTIVE.match(line)
        if not match or _is_of_docutils(match, empty):
            yield number, line
        elif match["name"] in SKIPPED_DIRECTIVES:
            skipped_indent = indent
            if kind := SKIPPED_DIRECTIVES[match["name"]]:
                omissions.add(kind, place=f"line {number}")
        else:
            if not _has_words(match["name"]):
                omissions.add(UNKNOWN, place=f"{match['name']}, line {number}")
            yield from ((number, words) for words in _directive_paragraph(match))
            in_options = True


def _is_of_docutils(match: re.Match[str], document: nodes.document) -> bool:
    # docutils has a directive `class` that names a style; that of Sphinx describes a class of a program.
    if match["name"] == "class" and PROGRAM_CLASS.search(match["argument"] or ""):
        return False
    return directives.directive(match["name"].lower(), cast("Any", en), document)[0] is not None


def _has_words(name: str) -> bool:
    """Whether a directive is one of Sphinx, or of a domain such as `py:function`, whose words are written."""
    return ":" in name or name in WORDED_DIRECTIVES | VERBATIM_DIRECTIVES | VERSION_PHRASES.keys()


def _directive_paragraph(match: re.Match[str]) -> list[str]:
    name, argument = match["name"], match["argument"] or ""
    words = f"{VERSION_PHRASES[name]} {argument}" if name in VERSION_PHRASES else argument
    if name in VERBATIM_DIRECTIVES:
        words = "::"
    return ["", match["indent"] + words, ""]
