"""Word files: each element where it may stand, in a paragraph, a run, a table or a formula."""

import io
import zipfile
from collections.abc import Sequence
from random import Random

from chiron_workers.documents.document import Document
from chiron_workers.documents.docx import read_docx
from chiron_workers.documents.docx_elements import WORD_ELEMENTS, LeftOut, Rule
from chiron_workers.documents.docx_formulas import FORMULA_ELEMENTS
from chiron_workers.documents.omissions import Mark

from .trial import LETTERS, Format, Probe

NAMESPACES = " ".join(
    f'xmlns:{prefix}="{name}"'
    for prefix, name in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "v": "urn:schemas-microsoft-com:vml",
        "o": "urn:schemas-microsoft-com:office:office",
        "x": "urn:nobody:knows",
    }.items()
)
RELATIONS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>'
FORMULA = "m:"
# Elements whose words do not stand in them, and those that do not stand in a paragraph.
PLACED = {
    "body": "<w:p><w:r><w:t>{0}</w:t></w:r></w:p>",
    "p": "<w:p><w:r><w:t>{0}</w:t></w:r></w:p>",
    "tbl": "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>{0}</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
    "sym": '<w:p><w:r><w:sym w:font="Nobody" w:char="F041"/></w:r></w:p>',
    "t": "<w:p><w:r><w:t>{0}</w:t></w:r></w:p>",
    "ruby": "<w:p><w:r><w:ruby><w:rubyBase><w:r><w:t>{0}</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>",
    "fldChar": (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:t>no</w:t></w:r><w:r><w:fldChar w:fldCharType="separate"/>'
        '</w:r><w:r><w:t>{0}</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    ),
    "instrText": (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>REF {0}</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    ),
    "drawing": '<w:p><w:r><w:drawing><wp:inline><wp:docPr descr="{0}"/></wp:inline></w:drawing></w:r></w:p>',
    "pict": '<w:p><w:r><w:pict><v:shape alt="{0}"/></w:pict></w:r></w:p>',
    "object": '<w:p><w:r><w:object><v:shape alt="{0}"/></w:object></w:r></w:p>',
    "footnoteReference": '<w:p><w:r><w:footnoteReference w:id="{0}"/></w:r></w:p>',
    "endnoteReference": '<w:p><w:r><w:endnoteReference w:id="{0}"/></w:r></w:p>',
    "tr": "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>{0}</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
    "tc": "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>{0}</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
}
FORMULA_WORDS = "<m:r><m:t>{0}</m:t></m:r>"
# The arguments that an element of formulas has its words in, in the order of the schema.
ARGUMENTS = {
    "f": ("num", "den"), "nary": ("sub", "sup", "e"), "sPre": ("sub", "sup", "e"), "sSub": ("e", "sub"),
    "sSup": ("e", "sup"), "sSubSup": ("e", "sub", "sup"), "rad": ("deg", "e"), "func": ("fName", "e"),
    "limLow": ("e", "lim"), "limUpp": ("e", "lim"),
}  # fmt: skip
UNKNOWN_PLACES = (
    "<w:p><w:r><w:t>{before}</w:t></w:r>{element}<w:r><w:t>{behind}</w:t></w:r></w:p>",
    "<w:p><w:r><w:t>{before}</w:t>{element}<w:t>{behind}</w:t></w:r></w:p>",
    "<w:p><m:oMath><m:r><m:t>{before}</m:t></m:r>{element}<m:r><m:t>{behind}</m:t></m:r></m:oMath></w:p>",
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>{before}</w:t></w:r>{element}<w:r><w:t>{behind}</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
)


def build(probes: Sequence[Probe], chance: Random) -> bytes:
    """A file with each probe in a paragraph or table of its own."""
    body = "".join(_placed(probe, chance) for probe in probes)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_rels/.rels", RELATIONS)
        archive.writestr(
            "word/document.xml", f"<w:document {NAMESPACES}><w:body>{body}</w:body></w:document>"
        )
    return file.getvalue()


def _placed(probe: Probe, chance: Random) -> str:
    name = probe.element
    if name in PLACED:
        return PLACED[name].format(probe.words)
    if name.startswith(FORMULA):
        return f"<w:p><m:oMath>{_formula(name.removeprefix(FORMULA), probe.words)}</m:oMath></w:p>"
    words = f"<w:r><w:t>{probe.words}</w:t></w:r>"
    if name in WORD_ELEMENTS:
        return f"<w:p><w:r><w:t>There is </w:t></w:r><w:{name}>{words}</w:{name}></w:p>"
    element = f"<{name}>{words}</{name}>"
    return chance.choice(UNKNOWN_PLACES).format(before=probe.before, element=element, behind=probe.behind)


def _formula(name: str, words: str) -> str:
    inside = FORMULA_WORDS.format(words)
    if name in ("t", "r", "oMath"):
        return inside
    if name == "m":
        return f"<m:m><m:mr><m:e>{inside}</m:e></m:mr></m:m>"
    arguments = ARGUMENTS.get(name, ("e",))
    return (
        f"<m:{name}>{''.join(f'<m:{argument}>{inside}</m:{argument}>' for argument in arguments)}</m:{name}>"
    )


def kind_of(element: str) -> str:
    """Under which kind an element is listed."""
    treatment = WORD_ELEMENTS.get(element)
    if isinstance(treatment, LeftOut):
        return treatment.kind
    if element in ("instrText", "pgNum"):
        return Mark.VALUE.value
    return treatment.value if isinstance(treatment, Mark) else Mark.SIGN.value if element == "sym" else ""


def _read(data: bytes) -> Document:
    return read_docx(data, name="harbour")


def _unknown(chance: Random) -> str:
    name = "".join(chance.choices(LETTERS, k=chance.randint(7, 12)))
    return chance.choice((f"w:{name}", f"m:{name}", f"x:{name}"))


WORD_NAMES = {
    name for name, treatment in WORD_ELEMENTS.items() if treatment is not Rule.NOTHING and not (
        isinstance(treatment, str) and not isinstance(treatment, Mark)
    )
}  # fmt: skip
FORMULA_NAMES = {tag.rpartition("}")[2] for tag, layout in FORMULA_ELEMENTS.items() if callable(layout)}
FORMAT = Format(
    "Word",
    (*sorted(WORD_NAMES), *(f"{FORMULA}{name}" for name in sorted(FORMULA_NAMES))),
    build,
    _read,
    _unknown,
    kind_of,
)
