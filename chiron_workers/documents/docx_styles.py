"""Where words of a Word file stand and in what font: raised, lowered, struck out, hidden, in a font of signs."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from chiron_workers.documents.document import one_line
from chiron_workers.documents.docx_elements import W
from chiron_workers.documents.docx_signs import is_sign_font

HEADING_STYLES = ("heading", "title")
PARENTS_MAX = 20  # of a style
RAISE_MIN = 4  # half points; less adjusts a line
OFF = ("0", "false", "off", "none")


class Place(StrEnum):
    """Where words stand."""

    LINE = ""
    HIGH = "superscript"
    LOW = "subscript"
    MOVED_UP = "raised by hand"
    MOVED_DOWN = "lowered by hand"
    STRUCK = "struck-out text"
    HIDDEN = "hidden text"


INVISIBLE = (Place.STRUCK, Place.HIDDEN)
SWITCHES = {f"{W}strike": Place.STRUCK, f"{W}dstrike": Place.STRUCK, f"{W}vanish": Place.HIDDEN}


@dataclass(frozen=True, slots=True)
class Look:
    """How a run looks, as far as it changes what its words say. A font is named if its characters are signs."""

    place: Place = Place.LINE
    font: str = ""


PLAIN = Look()


def run_look(properties: Any | None, styles: Mapping[str, Look], inherited: Look = PLAIN) -> Look:
    """The look of a run with these properties, in a paragraph with an inherited one."""
    if properties is None:
        return inherited
    place, style, font = None, PLAIN, None
    switches = dict[Place, bool]()
    for child in properties:
        tag = child.tag
        if tag in SWITCHES:
            switches[SWITCHES[tag]] = is_on(child) or switches.get(SWITCHES[tag], False)
        elif tag == f"{W}vertAlign":
            value = child.get(f"{W}val", "")
            place = Place(value) if value in (Place.HIGH, Place.LOW) else Place.LINE
        elif tag == f"{W}position":
            place = place or _moved(child.get(f"{W}val", ""))
        elif tag == f"{W}rStyle":
            style = styles.get(child.get(f"{W}val", ""), PLAIN)
        elif tag == f"{W}rFonts":
            font = child.get(f"{W}ascii") or child.get(f"{W}hAnsi") or font
    if (hiding := _hiding(switches, style, inherited)) is not None:
        return Look(hiding)
    is_sign = font is not None and is_sign_font(font)
    return Look(
        style.place if place is None else place,
        (font or "") if is_sign else "" if font is not None else style.font or inherited.font,
    )


def _hiding(switches: Mapping[Place, bool], style: Look, inherited: Look) -> Place | None:
    """Why words are not shown; what a run says itself precedes what its styles say."""
    for place, is_set in switches.items():
        if is_set:
            return place
    return next(
        (
            outer.place
            for outer in (style, inherited)
            if outer.place in INVISIBLE and switches.get(outer.place, True)
        ),
        None,
    )


def _moved(words: str) -> Place | None:
    sign, digits = words[:1], words.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 5 and int(digits) >= RAISE_MIN):
        return None
    return Place.MOVED_DOWN if sign == "-" else Place.MOVED_UP


class Styles:
    """The styles of a Word file by their ids, each with what it has from those that it is based on."""

    def __init__(self, root: Any | None) -> None:
        elements = [] if root is None else list(root.iter(f"{W}style"))
        self._elements = {element.get(f"{W}styleId", ""): element for element in elements}
        self.looks: dict[str, Look] = {}
        for style_id in self._elements:
            look = self._look(style_id, PARENTS_MAX)
            if look != PLAIN:
                self.looks[style_id] = look

    def is_heading(self, style_id: str) -> bool:
        """Whether a style is that of headings or titles."""
        element = self._elements.get(style_id)
        name = element.find(f"{W}name") if element is not None else None
        return name is not None and name.get(f"{W}val", "").lower().startswith(HEADING_STYLES)

    def numbering(self, style_id: str) -> Any | None:
        """The numPr element of a style of list items."""
        element = self._elements.get(style_id)
        return element.find(f"{W}pPr/{W}numPr") if element is not None else None

    def _look(self, style_id: str, parents_left: int) -> Look:
        element = self._elements.get(style_id)
        if element is None or not parents_left:
            return PLAIN
        base = element.find(f"{W}basedOn")
        inherited = PLAIN if base is None else self._look(base.get(f"{W}val", ""), parents_left - 1)
        look = run_look(element.find(f"{W}rPr"), {}, inherited)
        return look if look.place or not inherited.place else Look(inherited.place, look.font)


def is_on(element: Any | None) -> bool:
    """Whether a switch such as `<w:strike/>` is set."""
    return element is not None and one_line(element.get(f"{W}val", "1")).lower() not in OFF
