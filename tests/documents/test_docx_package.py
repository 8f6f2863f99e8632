"""A Word file is read whatever is wrong beside its text, and refused with the true reason."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.word_files import NAMESPACES, RELATION_LIST, paragraph, part, relation, run, word_file

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.docx import read_docx
from chiron_workers.documents.read_file import Part, read_file
from chiron_workers.documents.read_folder import FileDocument, read_folder

TEXT = "The pier is 240 m long."
PIER = paragraph(TEXT)
CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.{}.main+xml"/></Types>'
)


def strict() -> bytes:
    formula = "<m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>"
    xml = part("document", f"<w:body>{PIER}{paragraph(formula)}</w:body>")
    for name in NAMESPACES.values():
        if "/2006/" in name:
            xml = xml.replace(
                name, name.replace("schemas.openxmlformats.org", "purl.oclc.org/ooxml").replace("/2006", "")
            )
    return word_file(parts={"word/document.xml": xml})


OTHER_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/content/main.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
FLAT = (
    '<?xml version="1.0"?>\r\n<?mso-application progid="Word.Document"?>\n'
    '<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage"><pkg:part pkg:name="/word/document.xml">'
    '<pkg:xmlData>{}</pkg:xmlData></pkg:part><pkg:part pkg:name="/word/media/a.png"><pkg:binaryData>iVBO=</pkg:binaryData>'
    "</pkg:part></pkg:package>"
)


def renamed(rename: Callable[[str], str], **parts: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word_file(PIER, **parts))) as whole,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for name in whole.namelist():
            archive.writestr(rename(name), whole.read(name))
    return file.getvalue()


FILES = {
    "a picture that is not there": lambda: word_file(PIER, relations=relation("r1", "image", "NULL")),
    "a link to the top": lambda: word_file(PIER, relations=relation("r1", "hyperlink", "#_top")),
    "a target that is no address": lambda: word_file(PIER, relations=relation("r1", "image", "http://[x/../..\\")),
    "a thumbnail that is not there": lambda: word_file(
        PIER,
        parts={
            "_rels/.rels": RELATION_LIST.format(
                relation("r0", "metadata/thumbnail", "docProps/thumbnail.emf")
                + relation("r1", "officeDocument", "/word/document.xml")
            )
        },
    ),
    "macros": lambda: word_file(
        PIER, parts={"[Content_Types].xml": CONTENT_TYPES.format("ms-word.document.macroEnabled")}
    ),
    "a template": lambda: word_file(
        PIER,
        parts={
            "[Content_Types].xml": CONTENT_TYPES.format("openxmlformats-officedocument.wordprocessingml.template")
        },
    ),
    "no relationships": lambda: word_file(PIER, parts={"_rels/.rels": "", "word/_rels/document.xml.rels": "<"}),
    "another name of the main part": lambda: word_file(PIER, main="word/document2.xml"),
    "capitals in names": lambda: word_file(PIER, main="Word/Document.xml"),
    "a space before the declaration": lambda: word_file(
        parts={"word/document.xml": "\n<?xml version='1.0'?>" + part("document", f"<w:body>{PIER}</w:body>")}
    ),
    "a prefix that is not declared": lambda: word_file(
        parts={
            "word/document.xml": part("document", f"<w:body>{PIER}</w:body>").replace("<w:p>", "<w:p w16du:id='1'>")
        }
    ),
    "backslashes in names": lambda: word_file(PIER).replace(b"word/document.xml", b"word\\document.xml"),
    "UTF-16": lambda: word_file(
        parts={
            "word/document.xml": (
                "<?xml version='1.0' encoding='UTF-16'?>" + part("document", f"<w:body>{PIER}</w:body>")
            ).encode("utf-16")
        }
    ),
    "slashes before names": lambda: renamed(lambda name: f"/{name}"),
    "dots before names": lambda: renamed(lambda name: f"./{name}"),
    "small and capital letters": lambda: renamed(str.upper),
    "a main part elsewhere": lambda: renamed(
        lambda name: name.replace("word/", "content/"),
        parts={"_rels/.rels": RELATION_LIST.format(relation("r1", "officeDocument", "/content/document.xml"))},
    ),
    "a main part that only its content type names": lambda: word_file(
        PIER, main="content/main.xml", parts={"_rels/.rels": "", "[Content_Types].xml": OTHER_TYPES}
    ),
    "a name with a space": lambda: word_file(
        PIER,
        main="word/my doc.xml",
        parts={"_rels/.rels": RELATION_LIST.format(relation("r1", "officeDocument", "word/my%20doc.xml"))},
    ),
    "a name with an escape": lambda: word_file(PIER, main="word/my%20doc.xml"),
    "a sheet within": lambda: word_file(PIER, parts={"xl/workbook.xml": "<x/>"}),
    "one XML document": lambda: FLAT.format(part("document", f"<w:body>{PIER}</w:body>")).encode(),
    "a broken style sheet": lambda: word_file(
        PIER, parts={"word/styles.xml": "<w:styles"}, relations=relation("r1", "styles", "styles.xml")
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_a_file_with_faults_beside_its_text_is_read(kind: str) -> None:
    assert read_file(FILES[kind](), "pier.docx", Part()).text == TEXT


def test_a_strict_file_is_read_with_its_formulas() -> None:
    assert read_docx(strict(), name="a").text == f"{TEXT}\n\n1/2"


def test_a_part_that_is_broken_is_listed() -> None:
    (omission,) = read_docx(FILES["a broken style sheet"](), name="a").left_out
    assert (omission.kind, omission.place) == ("broken part of the file", "word/styles.xml")


def damaged() -> bytes:
    data = bytearray(word_file(PIER * 99))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        start = archive.getinfo("word/document.xml").header_offset
    for place in range(start + 60, start + 90):
        data[place] ^= 0xFF
    return bytes(data)


def encrypted() -> bytes:
    data = bytearray(word_file(PIER))
    for signature, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        place = data.find(signature)
        while place >= 0:
            data[place + offset] |= 1
            place = data.find(signature, place + 4)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (word_file(PIER)[:300], "it is no whole Word document"),
        (damaged(), "its part word/document.xml is damaged"),
        (encrypted(), "it is encrypted and needs a password"),
        (word_file(parts={"word/document.xml": "<w:document>"}), "its part word/document.xml is broken: its XML ends at line 1"),
        (word_file(parts={"word/document.xml": part("styles", "")}), "its part word/document.xml is no text of a Word document"),
        (word_file(main="elsewhere.xml", parts={"_rels/.rels": ""}), "it has no part word/document.xml"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_says_why(data: bytes, sentence: str) -> None:
    with pytest.raises(UnreadableError, match=sentence):
        read_docx(data, name="a")


def test_an_encrypted_file_and_one_of_an_old_word_are_told_apart() -> None:
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
    for stream, sentence in (
        ("EncryptedPackage", "it is encrypted and needs a password"),
        ("WordDocument", "it is a document of an old Word; save it as docx"),
    ):
        with pytest.raises(UnreadableError, match=sentence):
            read_file(head + stream.encode("utf-16-le"), "a.docx", Part())


@pytest.mark.parametrize("suffix", ["docm", "dotx", "dotm"])
def test_templates_and_files_with_macros_are_documents_of_a_folder(suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"pier.{suffix}").write_bytes(FILES["macros"]())
    (file,) = read_folder(tmp_path)
    assert isinstance(file, FileDocument)
    assert file.document.text == TEXT


def test_a_run_before_a_tracked_change_is_read_once() -> None:
    assert read_docx(word_file(paragraph(run("a"), f"<w:ins>{run('b')}</w:ins>")), name="a").text == "ab"
