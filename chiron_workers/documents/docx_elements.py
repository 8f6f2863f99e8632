"""What becomes of each element of WordprocessingML that stands where text is. One that is not here leaves a mark.

The elements of formulas are in docx_formulas.py. Those below properties (`pPr`, `rPr`, `tcPr`) say how text looks. What of them
changes its meaning is read by the writer of the element that has them.
"""

from dataclasses import dataclass
from enum import Enum, auto

from chiron_workers.documents.omissions import Mark

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MATHS = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


class Rule(Enum):
    """What becomes of an element."""

    WRITER = auto()  # it has a function that writes it
    THROUGH = auto()  # what is in it is read as if it were not there
    NOTHING = auto()  # it has no words


@dataclass(frozen=True, slots=True)
class LeftOut:
    """It is no part of the text as it is meant, and stands in the list of what is left out."""

    kind: str


Treatment = Rule | LeftOut | Mark | str  # a string: it stands for these characters
DELETION = LeftOut("tracked deletion")
PROPERTIES = (
    *("pPr", "rPr", "sdtPr", "sdtEndPr", "smartTagPr", "customXmlPr", "tblPr", "tblPrEx", "tblGrid", "trPr", "tcPr"),
    *("sectPr", "rubyPr"),
)  # fmt: skip
ANCHORS = (
    *(
        "bookmarkStart",
        "bookmarkEnd",
        "commentRangeStart",
        "commentRangeEnd",
        "proofErr",
        "permStart",
        "permEnd",
    ),
    *(f"{change}Range{end}" for change in ("moveFrom", "moveTo") for end in ("Start", "End")),
    *(
        f"customXml{change}Range{end}"
        for change in ("Ins", "Del", "MoveFrom", "MoveTo")
        for end in ("Start", "End")
    ),
)
DATE_PARTS = ("dayShort", "dayLong", "monthShort", "monthLong", "yearShort", "yearLong")
WORD_ELEMENTS: dict[str, Treatment] = {
    **dict.fromkeys(PROPERTIES, Rule.NOTHING),
    **dict.fromkeys(ANCHORS, Rule.NOTHING),
    # Computed when the document is shown.
    **dict.fromkeys(DATE_PARTS, Mark.VALUE),
    "pgNum": Rule.WRITER,
    "body": Rule.THROUGH,
    "p": Rule.WRITER,
    "tbl": Rule.WRITER,
    "tr": Rule.THROUGH,
    "tc": Rule.THROUGH,
    "r": Rule.WRITER,
    "t": Rule.WRITER,
    "sym": Rule.WRITER,
    "ruby": Rule.WRITER,
    "rt": Rule.THROUGH,
    "rubyBase": Rule.THROUGH,
    "fldChar": Rule.WRITER,
    "fldSimple": Rule.WRITER,
    "instrText": Rule.WRITER,
    "footnoteReference": Rule.WRITER,
    "endnoteReference": Rule.WRITER,
    "drawing": Rule.WRITER,
    "pict": Rule.WRITER,
    "object": Rule.WRITER,
    "hyperlink": Rule.THROUGH,
    "ins": Rule.THROUGH,
    "moveTo": Rule.THROUGH,
    "sdt": Rule.WRITER,
    "sdtContent": Rule.THROUGH,
    "smartTag": Rule.THROUGH,
    "customXml": Rule.THROUGH,
    "dir": Rule.THROUGH,
    "bdo": Rule.THROUGH,
    "tab": "\t",
    "ptab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "\u2011",
    "softHyphen": Rule.NOTHING,
    "lastRenderedPageBreak": Rule.NOTHING,
    "annotationRef": Rule.NOTHING,
    "footnoteRef": Rule.NOTHING,
    "endnoteRef": Rule.NOTHING,
    "separator": Rule.NOTHING,
    "continuationSeparator": Rule.NOTHING,
    "fldData": Rule.NOTHING,
    "del": DELETION,
    "moveFrom": DELETION,
    "delText": DELETION,
    "delInstrText": Rule.NOTHING,
    "commentReference": LeftOut("comment"),
    "altChunk": Mark.OBJECT,
    "subDoc": Mark.OBJECT,
    "contentPart": Mark.DRAWING,
    "control": Mark.FIELD,
    "movie": Mark.OBJECT,
    "objectEmbed": Mark.OBJECT,
    "objectLink": Mark.OBJECT,
    "footnotePr": Rule.NOTHING,
    "endnotePr": Rule.NOTHING,
}
ELEMENTS: dict[str, Treatment] = {
    **{f"{W}{name}": treatment for name, treatment in WORD_ELEMENTS.items()},
    f"{MATHS}oMath": Rule.WRITER,
    f"{MATHS}oMathPara": Rule.WRITER,
    f"{MATHS}oMathParaPr": Rule.NOTHING,
    f"{COMPATIBILITY}AlternateContent": Rule.WRITER,
    f"{W14}contentPart": Mark.DRAWING,
    f"{W14}conflictIns": Rule.THROUGH,
    f"{W14}conflictDel": DELETION,
    **{
        f"{W14}customXmlConflict{change}Range{end}": Rule.NOTHING
        for change in ("Ins", "Del")
        for end in ("Start", "End")
    },
}
