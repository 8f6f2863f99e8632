"""The writer of a Word file: its paragraphs and tables as lines, with what it has left out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from chiron_workers.documents.docx_controls import CONTROL, control_value
from chiron_workers.documents.docx_elements import COMPATIBILITY, ELEMENTS, Rule, W
from chiron_workers.documents.docx_fields import Field, split_fields
from chiron_workers.documents.docx_styles import PLAIN, Look, Styles
from chiron_workers.documents.docx_tables import table_lines
from chiron_workers.documents.docx_words import TBL, P, Words, alternative, paragraph_look
from chiron_workers.documents.omissions import Mark, Omissions

PPR = f"{W}pPr"
BLOCKS = frozenset((P, TBL))


@dataclass(slots=True)
class Writer:
    """Writes the parts of one Word file.

    Args:
        floats: Text beside the main text, such as text boxes, not yet collected by the caller.
        place: Where in the document the writer is.
        is_edge: Whether that is a header or footer.
        split_fields: The elements that begin fields whose instruction ends in a later paragraph.
        unfinished_fields: Fields that the last paragraph left open: their instruction continues here.
    """

    styles: Styles
    omissions: Omissions
    floats: list[str] = field(default_factory=list)
    place: str = ""
    is_edge: bool = False
    split_fields: frozenset[Any] = frozenset()
    unfinished_fields: list[Field] = field(default_factory=list)

    def begin_part(self, root: Any, *, is_edge: bool = False) -> None:
        """Begin a part of the file, such as its body or a header."""
        self.split_fields, self.unfinished_fields, self.is_edge = split_fields(root), [], is_edge

    def words(self, element: Any) -> str:
        """The text of what is in an element, such as a paragraph."""
        look = paragraph_look(element, self.styles) if element.tag == P else PLAIN
        return Words(self, look).text(element)

    def words_of(self, elements: Iterable[Any], look: Look = PLAIN) -> str:
        """The text of elements as if they stood in one paragraph."""
        return Words(self, look).text(list(elements))

    def lines(self, parent: Any) -> Iterator[str]:
        """The paragraphs and rows of tables in a cell, a note, a header or a text box."""
        for part in self.parts_of(parent):
            if isinstance(part, str):
                yield part
            else:
                yield from table_lines(part, self)

    def parts_of(self, parent: Any) -> Iterator[Any]:
        """The words of each paragraph of a cell or the like, and its tables. One whose mark is deleted begins the next."""
        beginning = ""
        for part in self.below(parent, BLOCKS):
            if isinstance(part, str) or part.tag != P:
                yield from (beginning,) if beginning else ()
                beginning = ""
                yield part
                continue
            words = beginning + self.words(part) if beginning else self.words(part)
            # Most paragraphs of a cell have no properties.
            beginning = next_beginning(part, words) or "" if len(part) and part[0].tag == PPR else ""
            if not beginning:
                yield words
        yield from (beginning,) if beginning else ()

    def below(self, parent: Any, tags: frozenset[str]) -> Iterator[Any]:
        """The elements with one of these tags that lie in no other of them; of what else has words, the words."""
        stack = list(reversed(parent))
        while stack:
            element = stack.pop()
            treatment = ELEMENTS.get(element.tag)
            if element.tag in tags:
                yield element
            elif treatment is Rule.THROUGH:
                stack.extend(reversed(element))
            elif element.tag == CONTROL:
                value = control_value(element, self)
                if value is None:
                    stack.extend(reversed(element))
                else:
                    yield value
            elif element.tag == f"{COMPATIBILITY}AlternateContent":
                stack.extend(reversed(alternative(element)))
            elif treatment is not Rule.NOTHING and (words := self.words_of([element])).strip():
                yield words

    def mark(self, mark: Mark) -> str:
        """A mark, which is counted."""
        return self.omissions.mark(mark, place=self.place)

    def leave_out(self, kind: str) -> None:
        """Count something that is not in the text."""
        self.omissions.add(kind, place=self.place)


def next_beginning(paragraph: Any, words: str) -> str | None:
    """What of a paragraph's words begins the next one: all, if its mark is deleted or it is an initial; else None."""
    properties = paragraph.find(f"{W}pPr")
    if properties is None:
        return None
    frame = properties.find(f"{W}framePr")
    if frame is not None and frame.get(f"{W}dropCap", "none") != "none":
        return words.strip()
    looks = properties.find(f"{W}rPr")
    is_deleted = looks is not None and any(
        looks.find(f"{W}{name}") is not None for name in ("del", "moveFrom")
    )
    return words if is_deleted else None
