"""Word files made of their XML, with whatever is wrong in them."""

import io
import zipfile
from collections.abc import Mapping

NAMESPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
    "x": "urn:nobody:knows",
}
DECLARATIONS = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in NAMESPACES.items())
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATION_LIST = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'
)


def run(words: str, properties: str = "") -> str:
    """A run of text."""
    looks = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{looks}<w:t xml:space="preserve">{words}</w:t></w:r>'


def paragraph(*parts: str, properties: str = "") -> str:
    """A paragraph of runs and other elements; words alone are made a run."""
    inside = "".join(part if part.startswith("<") else run(part) for part in parts)
    return f"<w:p>{f'<w:pPr>{properties}</w:pPr>' if properties else ''}{inside}</w:p>"


def part(name: str, body: str) -> str:
    """The XML of a part whose root is a `w:` element."""
    return f"<w:{name} {DECLARATIONS}>{body}</w:{name}>"


def relation(id_: str, kind: str, target: str) -> str:
    """A relationship of the main part."""
    return f'<Relationship Id="{id_}" Type="{RELATIONS}/{kind}" Target="{target}"/>'


def word_file(
    body: str = "",
    *,
    parts: Mapping[str, str | bytes] | None = None,
    relations: str = "",
    main: str = "word/document.xml",
) -> bytes:
    """A Word file with this body. `parts` are further entries of its archive, or others in place of its own."""
    entries: dict[str, str | bytes] = {
        "_rels/.rels": RELATION_LIST.format(relation("rId1", "officeDocument", main)),
        main: part("document", f"<w:body>{body}</w:body>"),
        "word/_rels/document.xml.rels": RELATION_LIST.format(relations),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (entries | dict(parts or {})).items():
            archive.writestr(name, content)
    return file.getvalue()
