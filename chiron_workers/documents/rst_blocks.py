"""The blocks of a reStructuredText tree, with its numbers of list items, rows of tables and texts of images."""

from collections.abc import Iterator, Sequence
from typing import Any

from docutils import nodes

from chiron_workers.documents.document import Block
from chiron_workers.documents.omissions import Mark, Omissions
from chiron_workers.documents.scripts import image_text, list_mark, note_mark, raise_words
from chiron_workers.documents.spacing import set_line

KINDS = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
COPIES_MAX = 20_000  # of merged cells in one table
WORDLESS = (nodes.raw, nodes.comment, nodes.substitution_definition, nodes.target)


def tree_blocks(tree: nodes.document, omissions: Omissions, numbers: Sequence[int]) -> Iterator[Block]:
    """The blocks of a document; a table's row is one line, and a merged cell stands in each row and column.

    What has no words leaves a mark, and is added to `omissions`. `numbers` has the line of the file for each that was parsed.
    """
    for message in list(tree.findall(nodes.system_message)):
        _take_out(message, omissions, numbers)
    for image in list(tree.findall(nodes.image)):
        if not image_text(image.get("alt", "")):
            place = str(image.get("uri", "")).rpartition("/")[2]
            mark = nodes.inline("", omissions.mark(Mark.PICTURE, place=place))
            is_in_line = isinstance(image.parent, nodes.TextElement)
            image.parent.replace(image, mark if is_in_line else nodes.paragraph("", "", mark))
    _write_marks(tree)
    yield from _below(tree)


def _take_out(message: nodes.system_message, omissions: Omissions, numbers: Sequence[int]) -> None:
    """Put a mark in the place of what docutils did not read, such as raw HTML or a file that is included."""
    if any(message.findall(nodes.literal_block)):
        mark = omissions.mark(Mark.UNKNOWN, place=line_place(numbers, message.get("line", 0)))
        message.parent.replace(message, nodes.paragraph("", mark))
    else:
        message.parent.remove(message)


def line_place(numbers: Sequence[int], line: int) -> str:
    """The place of a line that was parsed, in the file; empty where it is not known."""
    return f"line {numbers[line - 1]}" if 0 < line <= len(numbers) else ""


def _write_marks(tree: nodes.document) -> None:
    for node in list(tree.findall(nodes.superscript)):
        place = node.parent.index(node)
        before = node.parent[place - 1].astext() if place else ""
        node.parent.replace(node, nodes.Text(raise_words(node.astext(), before=before)))
    for kind in (nodes.footnote_reference, nodes.citation_reference):
        for reference in list(tree.findall(kind)):
            reference.parent.replace(reference, nodes.Text(note_mark(reference.astext())))
    for label in list(tree.findall(nodes.label)):
        mark = note_mark(label.astext())
        note = label.parent
        note.remove(label)
        first = next(iter(note.findall(nodes.TextElement)), None)
        if first is not None:
            first.insert(0, nodes.Text(f"{mark} "))
    for items in tree.findall(nodes.enumerated_list):
        number = items.get("start", 1)
        for item in items.children:
            mark = list_mark(number, KINDS.get(items.get("enumtype", ""), "1"))
            first = next(iter(item.findall(nodes.TextElement)), None)
            if first is not None and not isinstance(first, nodes.FixedTextElement):
                first.insert(0, nodes.Text(f"{mark} "))
            number += 1


def _below(tree: nodes.Node) -> Iterator[Block]:
    stack: list[nodes.Node] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, WORDLESS):
            continue
        if isinstance(node, nodes.tgroup):
            yield from _rows(node)
        elif isinstance(node, nodes.image):
            yield Block(image_text(node.get("alt", "")))
        elif isinstance(node, nodes.TextElement):
            verbatim = isinstance(node, nodes.FixedTextElement)
            yield Block(node.astext() if verbatim else _words(node), isinstance(node, nodes.title))
        else:
            stack.extend(reversed(node.children))


def _words(node: nodes.Element) -> str:
    for image in list(node.findall(nodes.image)):
        image.parent.replace(image, nodes.Text(image_text(image.get("alt", ""))))
    return set_line(node.astext())


def _rows(table: nodes.tgroup) -> Iterator[Block]:
    copies_left = COPIES_MAX
    for part in table.children:
        if not isinstance(part, nodes.thead | nodes.tbody):
            continue
        spans: dict[int, tuple[str, int]] = {}  # words from above, and in how many more rows they stand
        for row in part.children:
            line, spans = _row(list(row.children), spans)
            copies_left -= len(line)
            yield Block(" | ".join(line if copies_left > 0 else line[: len(row.children)]))


def _row(
    entries: list[Any], spans: dict[int, tuple[str, int]]
) -> tuple[list[str], dict[int, tuple[str, int]]]:
    line, below = list[str](), dict[int, tuple[str, int]]()
    while entries or len(line) in spans:
        if len(line) in spans:
            words, rows_left = spans[len(line)]
            columns = 1
        else:
            entry = entries.pop(0)
            words = " ".join(block.text for block in _below_entry(entry))
            rows_left, columns = entry.get("morerows", 0) + 1, entry.get("morecols", 0) + 1
        for _ in range(columns):
            if rows_left > 1:
                below[len(line)] = words, rows_left - 1
            line.append(words)
    return line, below


def _below_entry(entry: nodes.entry) -> Iterator[Block]:
    for child in entry.children:
        for block in _below(child):
            yield Block(set_line(block.text))
