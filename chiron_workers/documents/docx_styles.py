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
    STRUCK = "passage that is struck out"
    HIDDEN = "hidden passage"


INVISIBLE = (Place.STRUCK, Place.HIDDEN)
VALUE = f"{W}val"
# The properties of a run that change what its words say.
LOOKS: dict[str, Place | str] = {
    f"{W}strike": Place.STRUCK,
    f"{W}dstrike": Place.STRUCK,
    f"{W}vanish": Place.HIDDEN,
    **{f"{W}{name}": name for name in ("vertAlign", "position", "rStyle", "rFonts")},
}


@dataclass(frozen=True, slots=True)
class Look:
    """How a run looks, as far as it changes what its words say. A font is named if its characters are signs."""

    place: Place = Place.LINE
    font: str = ""


PLAIN = Look()


def run_look(properties: Any | None, styles: "Styles | None", base_look: Look = PLAIN) -> Look:
    """The look of a run with these properties, in a paragraph with an base_look one."""
    if properties is None:
        return base_look
    place, style, font = None, PLAIN, None
    switches = dict[Place, bool]()
    for child in properties:
        kind = LOOKS.get(child.tag)
        if kind is None:
            continue
        if isinstance(kind, Place):
            switches[kind] = is_on(child) or switches.get(kind, False)
        elif kind == "vertAlign":
            value = child.get(VALUE, "")
            place = Place(value) if value in (Place.HIGH, Place.LOW) else Place.LINE
        elif kind == "position":
            place = place or _moved(child.get(VALUE, ""))
        elif kind == "rStyle":
            style = styles.look(child.get(VALUE, "")) if styles is not None else PLAIN
        else:
            font = child.get(f"{W}ascii") or child.get(f"{W}hAnsi") or font
    if switches or style is not PLAIN or base_look is not PLAIN:
        if (hidden_as := _hiding(switches, style, base_look)) is not None:
            return Look(hidden_as)
    elif not place and font is None:
        return PLAIN
    is_sign = font is not None and is_sign_font(font)
    return Look(
        style.place if place is None else place,
        (font or "") if is_sign else "" if font is not None else style.font or base_look.font,
    )


def _hiding(switches: Mapping[Place, bool], style: Look, base_look: Look) -> Place | None:
    """Why words are not shown; what a run says itself precedes what its styles say."""
    for place, is_set in switches.items():
        if is_set:
            return place
    return next(
        (
            outer.place
            for outer in (style, base_look)
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
        elements = [] if root is None else root.iter(f"{W}style")
        self._elements = {element.get(f"{W}styleId", ""): element for element in elements}
        self._looks: dict[str, Look] = {}
        self._headings: dict[str, bool] = {}

    def look(self, style_id: str, parents_left: int = PARENTS_MAX) -> Look:
        """How runs of a style look."""
        look = self._looks.get(style_id)
        if look is not None:
            return look
        element = self._elements.get(style_id)
        if element is None or not parents_left:
            return PLAIN
        base = element.find(f"{W}basedOn")
        base_look = PLAIN if base is None else self.look(base.get(VALUE, ""), parents_left - 1)
        look = run_look(element.find(f"{W}rPr"), None, base_look)
        look = look if look.place or not base_look.place else Look(base_look.place, look.font)
        self._looks[style_id] = look
        return look

    def is_heading(self, style_id: str) -> bool:
        """Whether a style is that of headings or titles."""
        is_heading = self._headings.get(style_id)
        if is_heading is None:
            element = self._elements.get(style_id)
            name = element.find(f"{W}name") if element is not None else None
            is_heading = name is not None and name.get(VALUE, "").lower().startswith(HEADING_STYLES)
            self._headings[style_id] = is_heading
        return is_heading

    def numbering(self, style_id: str) -> Any | None:
        """The numPr element of a style of list items."""
        element = self._elements.get(style_id)
        return element.find(f"{W}pPr/{W}numPr") if element is not None else None


def is_on(element: Any | None) -> bool:
    """Whether a switch such as `<w:strike/>` is set."""
    return element is not None and one_line(element.get(f"{W}val", "1")).lower() not in OFF
