"""The text for a content control of a Word file that is not filled in."""

from typing import TYPE_CHECKING, Any

from chiron_workers.documents.docx_elements import MATHS, W14, W
from chiron_workers.documents.docx_styles import OFF, is_on
from chiron_workers.documents.omissions import Mark

if TYPE_CHECKING:
    from chiron_workers.documents.docx_writer import Writer

CONTROL = f"{W}sdt"
# Those that a person fills in; others group what is in them.
FILLED_BY_HAND = tuple(f"{W}{name}" for name in ("text", "date", "dropDownList", "comboBox", "picture"))
WORDS = (
    *(f"{W}{name}" for name in ("t", "sym", "drawing", "pict", "object", "fldChar", "fldSimple")),
    f"{MATHS}oMath",
)


def control_value(control: Any, writer: "Writer") -> str | None:
    """What an empty control shows: a box to tick, or a mark for a field. None for a control whose content is read."""
    properties = control.find(f"{W}sdtPr")
    if properties is None:
        return None
    box = properties.find(f"{W14}checkbox")
    if box is not None:
        return None if _has_words(control) else "☒" if _is_checked(box) else "☐"
    is_empty = is_on(properties.find(f"{W}showingPlcHdr")) or (
        any(properties.find(name) is not None for name in FILLED_BY_HAND) and not _has_words(control)
    )
    return writer.mark(Mark.FIELD) if is_empty else None


def _has_words(control: Any) -> bool:
    content = control.find(f"{W}sdtContent")
    parts = () if content is None else content.iter(*WORDS)
    return any(part.tag != f"{W}t" or (part.text or "").strip() for part in parts)


def _is_checked(box: Any) -> bool:
    state = box.find(f"{W14}checked")
    return state is not None and state.get(f"{W14}val", "1").strip().lower() not in OFF
