"""What a PDF has beside its plain text: form fields, words written on pages, glyphs without letters, pages without text."""

import pytest
from support.pdf_files import line, lines, pdf_file

from chiron_workers.documents.document import Document, UnreadableError
from chiron_workers.documents.pdf import read_pdf

PLEA = line("Application for a mooring", 60, 700)
FORM = "/AcroForm<</Fields[{}]/DA(/F1 12 Tf 0 g)>>"
RECT = "/Rect[200 600 400 620]"


def read(*pages: str, **other: object) -> Document:
    return read_pdf(pdf_file(*pages, **other), name="a")  # type: ignore[arg-type]


def left_out(document: Document) -> dict[str, tuple[int, str]]:
    return {omission.kind: (omission.count, omission.place) for omission in document.left_out}


def form(*fields: str) -> Document:
    numbers = " ".join(f"{5 + place} 0 R" for place in range(len(fields)))
    objects = tuple(f"<</Type/Annot{RECT}{field}>>".encode() for field in fields)
    return read(PLEA, annotations=numbers, catalogue=FORM.format(numbers), objects=objects)


def blocks(document: Document) -> list[str]:
    return [block.text for block in document.blocks if not block.text.startswith(("[Page", "Application"))]


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("/Subtype/Widget/FT/Tx/T(boat)/V(Sea Mouse)", ["[Form field boat] Sea Mouse"]),
        ("/Subtype/Widget/FT/Tx/T(b1)/TU(Name of the boat)/V(Sea Mouse)", ["[Form field Name of the boat] Sea Mouse"]),
        ("/Subtype/Widget/FT/Tx/T(boat)/V(M\\374nchen)", ["[Form field boat] München"]),
        ("/Subtype/Widget/FT/Tx/T(boat)", []),
        ("/Subtype/Widget/FT/Ch/T(size)/Opt[(small)(large)]/V(large)", ["[Form field size] large"]),
        ("/Subtype/Widget/FT/Ch/T(size)/Ff 2097152/Opt[(a)(b)(c)]/V[(a)(c)]", ["[Form field size] a; c"]),
        ("/Subtype/Widget/FT/Ch/T(size)/Ff 131072/Opt[[(x1)(Berth 7)][(x2)(Berth 8)]]/V(x1)", ["[Form field size] Berth 7"]),
        ("/Subtype/Widget/FT/Tx/T(boat)/Ff 33554432/RV(<body><p>Sea &amp; Co</p></body>)", ["[Form field boat] Sea & Co"]),
        ("/Subtype/Widget/FT/Btn/T(insured)/V/Yes/AS/Yes/AP<</N<</Yes null/Off null>>>>", ["[Form field insured] ☒"]),
        ("/Subtype/Widget/FT/Btn/T(insured)/V/Off/AS/Off/AP<</N<</Yes null/Off null>>>>", ["[Form field insured] ☐"]),
        ("/Subtype/Widget/FT/Btn/Ff 65536/T(send)", []),
        ("/Subtype/FreeText/Contents(Berth 9 is free.)/DA(/F1 12 Tf)", ["[Text on the page] Berth 9 is free."]),
        ("/Subtype/FreeText/RC(<body><p>Berth 9 &amp; 10</p></body>)", ["[Text on the page] Berth 9 & 10"]),
        ("/Subtype/Stamp/Name/Draft", ["[Stamp] Draft"]),
        ("/Subtype/Link/Contents(a link)", []),
    ],
)  # fmt: skip
def test_values_of_fields_and_words_on_the_page_are_read_as_such(field: str, text: list[str]) -> None:
    document = form(field)
    assert blocks(document) == text
    assert not document.left_out


@pytest.mark.parametrize(
    ("field", "kind"),
    [
        ("/Subtype/Text/Contents(Is this right?)", "comment"),
        ("/Subtype/Highlight/Contents(Is this right?)", "comment"),
        ("/Subtype/StrikeOut", "passage that is marked as deleted"),
        ("/Subtype/FileAttachment", "attached file"),
        ("/Subtype/Ink/InkList[[1 1 2 2]]", "drawing"),
        ("/Subtype/Square", "drawing"),
        ("/Subtype/Stamp", "drawing"),
        ("/Subtype/Sound", "embedded object"),
        ("/Subtype/Nobody", "part that is not read"),
        ("/Subtype/Widget/FT/Sig/T(name)", "signature"),
        ("/Subtype/Widget/FT/Tx/Ff 8192/T(word)/V(secret)", "password field"),
        ("/Subtype/Widget/F 2/FT/Tx/T(boat)/V(hidden words)", "hidden form field"),
        ("/Subtype/FreeText/F 2/Contents(hidden words)", "hidden annotation"),
    ],
)
def test_what_is_no_text_of_the_page_is_listed(field: str, kind: str) -> None:
    document = form(field)
    assert blocks(document) == []
    assert left_out(document) == {kind: (1, "page 1")}


def test_a_field_has_its_value_from_the_field_above_it() -> None:
    objects = (
        b"<</FT/Tx/T(boat)/V(Sea Mouse)/Kids[6 0 R]>>",
        f"<</Type/Annot/Subtype/Widget/Parent 5 0 R{RECT}>>".encode(),
    )
    document = read(PLEA, annotations="6 0 R", catalogue=FORM.format("5 0 R"), objects=objects)
    assert blocks(document) == ["[Form field boat] Sea Mouse"]


@pytest.mark.parametrize(
    ("words", "left"),
    [("(Sea Mouse) Tj", {"form field": (1, "page 1")}), ("() Tj", {}), ("0 0 9 9 re f", {})],
)
def test_a_field_whose_picture_alone_has_words_is_listed(
    words: str, left: dict[str, tuple[int, str]]
) -> None:
    picture = f"/Tx BMC BT /F1 10 Tf {words} ET EMC".encode()
    objects = (
        f"<</Type/Annot/Subtype/Widget/FT/Tx/T(boat)/AP<</N 6 0 R>>{RECT}>>".encode(),
        b"<</Type/XObject/Subtype/Form/BBox[0 0 200 20]/Length %d>>stream\n%s\nendstream"
        % (len(picture), picture),
    )
    document = read(PLEA, annotations="5 0 R", catalogue=FORM.format("5 0 R"), objects=objects)
    assert blocks(document) == []
    assert left_out(document) == left


@pytest.mark.parametrize("kind", ["StrikeOut", "Redact"])
def test_words_that_were_struck_out_afterwards_are_left_out(kind: str) -> None:
    note = f"<</Type/Annot/Subtype/{kind}/Rect[59 684 200 694]/QuadPoints[59 694 200 694 59 684 200 684]>>".encode()
    page = lines(
        "The berth costs 70 euros.", "The berth costs 99 euros.", "It is free in winter.", y=700, step=14
    )
    document = read(page, annotations="5 0 R", objects=(note,))
    assert document.text == "[Page 1]\n\nThe berth costs 70 euros.\nIt is free in winter."
    assert left_out(document) == {
        "passage that is struck out": (5, "page 1"),
        "passage that is marked as deleted": (1, "page 1"),
    }


def test_a_form_without_other_text_is_read() -> None:
    field = f"<</Type/Annot/Subtype/Widget/FT/Tx/T(boat)/V(Sea Mouse){RECT}>>".encode()
    document = read("", annotations="5 0 R", catalogue=FORM.format("5 0 R"), objects=(field,))
    assert document.text == "[Page 1]\n\n[Form field boat] Sea Mouse"


UNMAPPED = (
    b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Type/Encoding/Differences[128/g123/g7]>>>>"
)
NO_LETTERS = (
    b"<</Type/Font/Subtype/Type0/BaseFont/ABCDEF+Foo/Encoding/Identity-H/DescendantFonts[<</Type/Font/Subtype/CIDFontType2"
    b"/BaseFont/ABCDEF+Foo/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/DW 500/FontDescriptor"
    b"<</Type/FontDescriptor/FontName/ABCDEF+Foo/Flags 4/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200"
    b"/CapHeight 700/StemV 80>>>>]>>"
)
GARBAGE = "BT /F1 12 Tf 60 700 Td <002400250026> Tj ET "


def sign_font(name: str) -> bytes:
    return (
        f"<</Type/Font/Subtype/TrueType/BaseFont/{name}/FontDescriptor<</Type/FontDescriptor/FontName/{name}/Flags 4"
        "/FontBBox[0 0 1000 1000]/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>>>"
    ).encode()


def test_a_glyph_without_a_letter_leaves_a_mark() -> None:
    document = read("BT /F1 12 Tf 60 700 Td (A dose of 5 ) Tj <8081> Tj (g is taken.) Tj ET", font=UNMAPPED)
    assert document.text == "[Page 1]\n\nA dose of 5 [sign]g is taken."
    assert left_out(document) == {"sign": (2, "page 1")}


@pytest.mark.parametrize(
    ("font", "code", "character"),
    [
        ("ABCDEF+Wingdings-Regular", "FC", "✓"),
        ("Wingdings", "E0", "→"),
        ("Symbol", "6D", "μ"),
        ("SymbolMT", "6D", "[sign]"),
    ],
)
def test_letters_of_a_font_of_signs_are_the_signs_that_it_shows(font: str, code: str, character: str) -> None:
    content = f"BT /F2 12 Tf 60 700 Td (A dose of 5 ) Tj /F1 12 Tf <{code}> Tj /F2 12 Tf (g is taken.) Tj ET"
    assert read(content, font=sign_font(font)).text == f"[Page 1]\n\nA dose of 5 {character}g is taken."


def mapped(code: str) -> tuple[bytes, bytes]:
    """A font whose letter "m" stands for a code, and the table that says so."""
    table = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00><FF> endcodespacerange "
        f"1 beginbfchar <6D><{code}> endbfchar endcmap end"
    ).encode()
    font = (
        b"<</Type/Font/Subtype/TrueType/BaseFont/ABCDEF+Foo/ToUnicode 5 0 R/FirstChar 65/LastChar 122/Widths[%s]>>"
        % b" ".join([b"600"] * 58)
    )
    return font, b"<</Length %d>>stream\n%s\nendstream" % (len(table), table)


@pytest.mark.parametrize("code", ["0000", "0001", "0002", "FFFD", "FFFE", "E000"])
def test_a_glyph_whose_code_is_no_letter_leaves_a_mark_and_is_no_hyphen(code: str) -> None:
    font, table = mapped(code)
    document = read("BT /F1 10 Tf 60 700 Td (The change is m5 degrees) Tj ET", font=font, objects=(table,))
    assert document.text == "[Page 1]\n\nThe change is [sign]5 degrees"
    assert left_out(document) == {"sign": (1, "page 1")}


def test_a_piece_of_text_without_a_letter_leaves_a_mark_and_white_space_leaves_none() -> None:
    font = b"<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+Foo/Encoding<</Type/Encoding/Differences[109/g12]>>>>"
    page = (
        "BT /F2 10 Tf 60 700 Td (The dose is 5 ) Tj /F1 10 Tf (m) Tj /F2 10 Tf ( ) Tj ( ) Tj (g a day.) Tj ET"
    )
    document = read(page, font=font)
    assert document.text == "[Page 1]\n\nThe dose is 5 [sign]g a day."
    assert left_out(document) == {"sign": (1, "page 1")}


def test_pictures_and_lines_of_forms_within_a_page_count_and_drawings_are_listed() -> None:
    content = b"q 200 0 0 100 60 400 cm /I Do Q 60 703 130 0.8 re f"
    chart = "".join(
        f"{x} 500 m {x} 510 {x + 5} 520 {x + 9} 500 c {x + 9} 480 l {x} 470 l {x} 460 l S "
        for x in range(60, 160, 10)
    )
    form = (
        b"<</Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</XObject<</I 6 0 R>>>>/Length %d>>stream\n%s\nendstream"
        % (len(content), content)
    )
    picture = (
        b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>"
    )
    image = picture + b"stream\n\x00\nendstream"
    page = lines("The old berth is closed.", "The new one is open.") + chart + "/X Do "
    data = pdf_file(page, objects=(form, image)).replace(
        b"/Resources<</Font", b"/Resources<</XObject<</X 5 0 R>>/Font"
    )
    document = read_pdf(data, name="a")
    assert document.text == "[Page 1]\n\nThe new one is open."
    assert left_out(document) == {
        "passage that is struck out": (5, "page 1"),
        "picture without text": (1, "page 1"),
        "drawing": (1, "page 1"),
    }


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (lines("The dose of the X-", "ray is small."), "The dose of the X-ray is small."),
        (lines("They read the p-", "value of it."), "They read the p-value of it."),
        (lines("See https://x.example/a-", "b for more."), "See https://x.example/a-b for more."),
        (lines("The har-", "bour is small."), "The harbour is small."),
    ],
)
def test_a_hyphen_behind_one_letter_and_in_an_address_stays(page: str, text: str) -> None:
    assert read(page).text == f"[Page 1]\n\n{text}"


def test_a_page_whose_letters_nobody_knows_is_marked_and_a_file_of_such_pages_is_refused() -> None:
    document = read(GARBAGE, "BT /F2 12 Tf 60 700 Td (Some words.) Tj ET", font=NO_LETTERS)
    assert document.text == "[Page 1]\n\n[page without text]\n\n[Page 2]\n\nSome words."
    assert left_out(document) == {"sign": (3, "page 1"), "page without text": (1, "page 1")}
    with pytest.raises(UnreadableError, match="its fonts do not say which letters their glyphs are"):
        read(GARBAGE, font=NO_LETTERS)


SCAN = "q 500 0 0 700 50 50 cm BI /W 1 /H 1 /BPC 8 /CS /G ID 0 EI Q"


def test_a_scanned_page_among_others_is_marked_and_an_empty_one_is_not() -> None:
    document = read(line("Some words.", 60, 700), SCAN, "")
    assert document.text == "[Page 1]\n\nSome words.\n\n[Page 2]\n\n[page without text]\n\n[Page 3]"
    assert left_out(document) == {"page without text": (1, "page 2")}
    with pytest.raises(UnreadableError, match="they may be pictures of text"):
        read(SCAN)


def test_pictures_and_struck_words_of_a_page_are_listed() -> None:
    struck = "0.6 w 60 689.5 m 65 689.5 l S "
    document = read(lines("It rains in May.", "It snows in June.") + struck + SCAN)
    assert left_out(document) == {
        "passage that is struck out": (1, "page 1"),
        "picture without text": (1, "page 1"),
    }


def test_words_beside_the_page_are_listed_and_not_read() -> None:
    document = read(
        line("Some words.", 60, 700) + line("Hidden above", 60, 900) + line("Hidden beside", -300, 600)
    )
    assert document.text == "[Page 1]\n\nSome words."
    assert left_out(document) == {"line outside the page": (2, "page 1")}


def test_attached_files_and_forms_that_no_viewer_shows_are_listed() -> None:
    names = "/Names<</EmbeddedFiles<</Names[(a.txt) 5 0 R]>>>>"
    objects = (b"<</Type/Filespec/F(a.txt)/EF<</F 6 0 R>>>>", b"<</Length 1>>stream\na\nendstream")
    document = read(line("Some words.", 60, 700), catalogue=names, objects=objects)
    assert left_out(document) == {"attached file": (1, "")}
    xfa = "/AcroForm<</Fields[]/XFA 5 0 R>>/NeedsRendering true"
    document = read(
        line("Please wait.", 60, 700), catalogue=xfa, objects=(b"<</Length 5>>stream\n<xdp>\nendstream",)
    )
    assert left_out(document) == {"XFA form": (1, "")}
