"""What stands for the pictures, drawings, charts, objects and text boxes of a Word file."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chiron_workers.documents.document import one_line
from chiron_workers.documents.docx_elements import COMPATIBILITY, W
from chiron_workers.documents.omissions import Mark
from chiron_workers.documents.scripts import image_text

if TYPE_CHECKING:
    from chiron_workers.documents.docx_writer import Writer

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
ART = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
DECORATIVE = "{http://schemas.microsoft.com/office/drawing/2017/decorative}decorative"
VML = "{urn:schemas-microsoft-com:vml}"
OFFICE = "{urn:schemas-microsoft-com:office:office}"
BOX, FALLBACK = f"{W}txbxContent", f"{COMPATIBILITY}Fallback"
BOX_WORDS = "[Text box]"
# By the end of the address that says what a drawing holds.
MARKS_OF_GRAPHICS = {
    "picture": Mark.PICTURE, "chart": Mark.CHART, "chartex": Mark.CHART, "diagram": Mark.DRAWING,
    "wordprocessingShape": Mark.DRAWING, "wordprocessingGroup": Mark.DRAWING, "wordprocessingCanvas": Mark.DRAWING,
    "wordprocessingInk": Mark.DRAWING, "lockedCanvas": Mark.DRAWING, "model3d": Mark.DRAWING,
}  # fmt: skip
SHAPES = frozenset(
    f"{VML}{name}"
    for name in ("shape", "rect", "roundrect", "oval", "line", "polyline", "curve", "arc", "image", "group")
)
PICTURES = frozenset((f"{VML}imagedata", f"{VML}image"))
EQUATION_PROGRAMS = ("equation", "mathtype", "eqneditor")


def graphic(element: Any, writer: "Writer") -> Iterator[tuple[str, bool]]:
    """What stands for a `drawing`, `pict` or `object` element: words, and whether they stand beside the text."""
    parts = list(_visible(element))
    for box in (part for part in parts if part.tag == BOX):
        yield from _box("\n".join(line for line in writer.lines(box) if line.strip()))
    for words in (part.get("string", "") for part in parts if part.tag == f"{VML}textpath"):
        yield from _box(words)
    # Beside the text, as it is laid out in no line of it.
    is_beside = element.find(f"{DRAWING}anchor") is not None or any(
        part.tag in SHAPES and "position:absolute" in part.get("style", "").replace(" ", "") for part in parts
    )
    words = _drawn(element, parts, writer) if element.tag == f"{W}drawing" else _embedded(parts, writer)
    if words:
        yield words, is_beside


def _box(words: str) -> Iterator[tuple[str, bool]]:
    if words.strip():
        yield f"{BOX_WORDS} {words.strip()}", True


def _visible(element: Any) -> Iterator[Any]:
    """The elements of a graphic, but those within its text boxes and in copies for older programs."""
    stack = list(reversed(element))
    while stack:
        node = stack.pop()
        if node.tag == FALLBACK:
            continue
        yield node
        if node.tag != BOX:
            stack.extend(reversed(node))


def _drawn(element: Any, parts: list[Any], writer: "Writer") -> str:
    if element.find(f".//{DECORATIVE}") is not None and any(
        part.tag == DECORATIVE and part.get("val") in ("1", "true") for part in parts
    ):
        return ""
    # Word says it twice, for the drawing and for the picture in it.
    names = (part for part in parts if isinstance(part.tag, str) and part.tag.endswith(("}docPr", "}cNvPr")))
    texts = dict.fromkeys(_alt(part.get("descr") or part.get("title") or "") for part in names)
    if words := " ".join(text for text in texts if text):
        return words
    data = next((part for part in parts if part.tag == f"{ART}graphicData"), None)
    kind = data.get("uri", "").rstrip("/").rpartition("/")[2] if data is not None else ""
    mark = MARKS_OF_GRAPHICS.get(kind, Mark.OBJECT)
    if mark is Mark.DRAWING:
        if any(isinstance(part.tag, str) and part.tag.endswith("}blip") for part in parts):
            mark = Mark.PICTURE
        elif any(part.tag == BOX for part in parts):
            return ""
    return writer.mark(mark)


def _embedded(parts: list[Any], writer: "Writer") -> str:
    """What stands for a drawing or an object in VML, as Word wrote it until 2007 and writes objects today."""
    program = next((part.get("ProgID", "") for part in parts if part.tag == f"{OFFICE}OLEObject"), None)
    if program is not None and program.lower().startswith(EQUATION_PROGRAMS):
        return writer.mark(Mark.FORMULA)
    shapes = [part for part in parts if part.tag in SHAPES]
    texts = dict.fromkeys(_alt(part.get("alt", "")) for part in shapes)
    if words := " ".join(text for text in texts if text):
        return words
    if program is not None or any(part.tag in (f"{W}objectEmbed", f"{W}objectLink") for part in parts):
        return writer.mark(Mark.OBJECT)
    if any(part.tag == f"{W}control" for part in parts):
        return writer.mark(Mark.FIELD)
    if any(part.tag in PICTURES for part in parts):
        return writer.mark(Mark.PICTURE)
    if any(part.tag == f"{W}drawing" for part in parts):
        return " ".join(
            words for part in parts if part.tag == f"{W}drawing" for words, _ in graphic(part, writer)
        )
    has_words = any(part.tag in (BOX, f"{VML}textpath") for part in parts)
    lines = (part.get(f"{OFFICE}hr") for part in shapes)
    return writer.mark(Mark.DRAWING) if shapes and not has_words and not any(lines) else ""


def _alt(words: str) -> str:
    text = image_text(words)
    # A number that joined those beside it would say something else.
    return f"[Image: {one_line(words)}]" if any(map(str.isalnum, text)) and not text.startswith("[") else text
