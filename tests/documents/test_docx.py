"""What a Word file says beside its plain text: signs, fields, tracked changes, text boxes, headers, and what is left out."""

import re
import time

import pytest
from support.word_files import paragraph, part, relation, run, word_file

from chiron_workers.documents.document import Document
from chiron_workers.documents.docx import read_docx
from chiron_workers.documents.omissions import MARK

SYMBOL = '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>'

FIELDS = 8_000


def read(*paragraphs: str, **parts: str) -> Document:
    return read_docx(word_file("".join(paragraphs), **parts), name="a")  # type: ignore[arg-type]


def left_out(document: Document) -> dict[str, int]:
    return {omission.kind: omission.count for omission in document.left_out}


def sign(code: str, font: str = "Symbol") -> str:
    return f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>'


@pytest.mark.parametrize(
    ("code", "font", "character"),
    [
        ("F06D", "Symbol", "µ"),
        ("006D", "Symbol", "µ"),
        ("F0B1", "symbol", "±"),
        ("F0B3", "Symbol", "≥"),
        ("F0A3", "Symbol", "≤"),
        ("F0B4", "Symbol", "×"),
        ("F02D", "Symbol", "−"),
        ("F061", "Symbol", "α"),
        ("F0A5", "Symbol", "∞"),
        ("F0E0", "Wingdings", "→"),
        ("F0FC", "Wingdings", "✓"),
        ("F0FE", "Wingdings", "☑"),
        ("F052", "Wingdings 2", "☑"),
        ("2192", "Arial", "→"),
        ("006D", "Euclid Symbol", "µ"),
        ("F06D", "Symbol MT", "µ"),
        ("F06D", "Standard Symbols L", "µ"),
        ("F0FC", "Wingdings Regular", "✓"),
    ],
)
def test_a_sign_of_a_font_of_signs_is_written_as_unicode_has_it(code: str, font: str, character: str) -> None:
    document = read(paragraph("5 ", sign(code, font), "g"))
    assert document.text == f"5 {character}g"
    assert not document.left_out


@pytest.mark.parametrize(
    ("code", "font"),
    [
        ("F06D", "Nobody's Signs"),
        ("006D", "Nobody's Signs"),
        ("006D", "Map Symbols"),
        ("006D", ""),
        ("F0FF", "Wingdings"),
        ("E123", ""),
        ("xyz", "Symbol"),
    ],
)
def test_a_sign_that_nobody_knows_leaves_a_mark(code: str, font: str) -> None:
    document = read(paragraph("5 ", sign(code, font), "g"))
    assert document.text == "5 [sign]g"
    assert left_out(document) == {"sign": 1}


def test_letters_in_a_font_of_signs_are_the_signs_that_it_shows() -> None:
    style = (
        '<w:style w:type="character" w:styleId="Greek"><w:rPr><w:rFonts w:ascii="Symbol"/></w:rPr></w:style>'
    )
    document = read(
        paragraph("5 ", run("m", SYMBOL), "g, ", run("\uf0b1", SYMBOL), "2 %, ", run("é", SYMBOL)),
        paragraph(
            run("a", '<w:rStyle w:val="Greek"/>'),
            run("a", '<w:rStyle w:val="Greek"/><w:rFonts w:ascii="Arial"/>'),
        ),
        paragraph("7 ", run("\uf06d"), "g"),
        parts={"word/styles.xml": part("styles", style)},
    )
    assert document.text.split("\n\n") == ["5 µg, ±2 %, é", "αa", "7 [sign]g"]
    assert left_out(document) == {"sign": 1}


@pytest.mark.parametrize(
    ("font", "text"),
    [
        ("Euclid Symbol", "5 µg"),
        ("Symbol MT", "5 µg"),
        ("MT Extra", "5 [sign]g"),
        ("ITC Zapf Dingbats", "5 [sign]g"),
        ("Bookshelf Symbol 7", "5 [sign]g"),
        ("Segoe UI Symbol", "5 mg"),
        ("Arial", "5 mg"),
    ],
)
def test_letters_in_a_relative_of_symbol_are_its_signs_and_those_of_other_fonts_of_signs_leave_marks(
    font: str, text: str
) -> None:
    letters = run("m", f'<w:rFonts w:ascii="{font}" w:hAnsi="{font}"/>')
    assert read(paragraph("5 ", letters, "g")).text == text


def test_deleted_cells_and_rows_are_left_out_and_merged_cells_keep_their_columns() -> None:
    def row(*cells: str, properties: str = "") -> str:
        return f"<w:tr><w:trPr>{properties}</w:trPr>{''.join(cells)}</w:tr>"

    def cell(words: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(words)}</w:tc>"

    document = read(
        "<w:tbl>",
        row(cell("Fee"), cell("90", "<w:cellDel/>"), cell("80", '<w:vMerge w:val="restart"/>')),
        row(cell("Tax"), cell("9"), cell("", "<w:vMerge/>")),
        row(cell("Gone"), properties="<w:del/>"),
        row(cell("Hidden"), properties="<w:hidden/>"),
        row(cell("Wide", '<w:hMerge w:val="restart"/>'), cell("", "<w:hMerge/>"), cell("1")),
        "</w:tbl>",
    )
    assert document.text.splitlines() == ["Fee | 80", "Tax | 9 | 80", "Wide | Wide | 1"]
    assert left_out(document) == {"tracked deletion": 2, "hidden row": 1}


def test_a_table_in_a_cell_is_read_with_its_deletions_and_keeps_its_cells_apart() -> None:
    cells = "".join(
        f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(words)}</w:tc>"
        for words, properties in (("1", ""), ("2", "<w:cellDel/>"), ("3", ""))
    )
    inner = f"<w:tbl><w:tr>{cells}</w:tr><w:tr>{cells}</w:tr></w:tbl>"
    document = read(
        f"<w:tbl><w:tr><w:tc>{paragraph('Doses')}</w:tc><w:tc>{inner}{paragraph('')}</w:tc></w:tr></w:tbl>"
    )
    assert document.text == "Doses | 1, 3; 1, 3"


def test_a_deleted_paragraph_mark_joins_two_paragraphs_and_so_does_an_initial() -> None:
    document = read(
        paragraph("The bridge is 24", properties="<w:rPr><w:del/></w:rPr>"),
        paragraph("0 m long."),
        paragraph(run("T", '<w:position w:val="-10"/>'), properties='<w:framePr w:dropCap="drop"/>'),
        paragraph("he river is wide."),
    )
    assert document.text.split("\n\n") == ["The bridge is 240 m long.", "The river is wide."]


@pytest.mark.parametrize("mark", ["del", "moveFrom"])
def test_a_deleted_paragraph_mark_joins_nothing_over_a_table_or_a_part_that_is_not_read(mark: str) -> None:
    deleted = f'<w:rPr><w:{mark} w:id="1"/></w:rPr>'
    table = f"<w:tbl><w:tr><w:tc>{paragraph('t')}</w:tc></w:tr></w:tbl>"
    for between, words in ((table, "t"), ("<x:next/>", "[part that is not read]")):
        parts = (paragraph("Fee 70", properties=deleted), between, paragraph("5 are free"))
        assert read(*parts).text.split("\n\n") == ["Fee 70", words, "5 are free"]
        cell = f"<w:tbl><w:tr><w:tc>{''.join(parts)}</w:tc></w:tr></w:tbl>"
        assert read(cell).text == f"Fee 70 {words} 5 are free"


def test_a_deleted_paragraph_mark_joins_two_paragraphs_of_a_cell_and_of_a_text_box() -> None:
    paragraphs = paragraph("Fee 12", properties='<w:rPr><w:del w:id="1"/></w:rPr>') + paragraph("34")
    assert read(f"<w:tbl><w:tr><w:tc>{paragraphs}</w:tc></w:tr></w:tbl>").text == "Fee 1234"
    box = f"<w:r><w:pict><v:shape><v:textbox><w:txbxContent>{paragraphs}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
    assert read(paragraph("a", box)).text.split("\n\n") == ["a", "[Text box] Fee 1234"]


def test_hidden_and_struck_text_is_listed() -> None:
    style = '<w:style w:type="paragraph" w:styleId="Notes"><w:rPr><w:vanish/></w:rPr></w:style>'
    document = read(
        paragraph("It costs ", run("90", "<w:strike/>"), run(" secret", "<w:vanish/>"), "80 euros."),
        paragraph("for the editor", properties='<w:pStyle w:val="Notes"/>'),
        paragraph(run("shown", '<w:vanish w:val="0"/>'), properties='<w:pStyle w:val="Notes"/>'),
        parts={"word/styles.xml": part("styles", style)},
    )
    assert document.text.split("\n\n") == ["It costs 80 euros.", "shown"]
    assert left_out(document) == {"passage that is struck out": 1, "hidden passage": 2}


def test_words_raised_by_hand_are_a_power() -> None:
    raised, lowered = '<w:position w:val="6"/>', '<w:position w:val="-6"/>'
    document = read(
        paragraph(
            "It has 10",
            run("5", raised),
            " grains, CO",
            run("2", lowered),
            " and ",
            run("a long aside", raised),
        )
    )
    assert document.text == "It has 10⁵ grains, CO₂ and a long aside"


def test_ruby_stands_in_brackets_behind_its_word() -> None:
    ruby = f"<w:r><w:ruby><w:rubyPr/><w:rt>{run('とうきょう')}</w:rt><w:rubyBase>{run('東京')}</w:rubyBase></w:ruby></w:r>"
    assert read(paragraph(ruby, "は大きい。")).text == "東京(とうきょう)は大きい。"


def field(instruction: str, result: str | None, form: str = "") -> str:
    middle = "" if result is None else f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{result}'
    return (
        f'<w:r><w:fldChar w:fldCharType="begin">{form}</w:fldChar></w:r><w:r><w:instrText>{instruction}</w:instrText></w:r>'
        f'{middle}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


@pytest.mark.parametrize(
    ("instruction", "result", "form", "text"),
    [
        (" REF dose ", run("5 mg"), "", "5 mg"),
        (" REF dose ", None, "", "[field without a value]"),
        (" XE tide ", None, "", ""),
        (" EQ \\f(1,2) ", None, "", "[formula]"),
        (' SYMBOL 109 \\f "Symbol" ', None, "", "µ"),
        (' SYMBOL 109 \\f "Nobody\'s Signs" ', None, "", "[sign]"),
        (" SYMBOL 181 \\a ", None, "", "µ"),
        (" FORMCHECKBOX ", None, "<w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData>", "☒"),
        (" FORMCHECKBOX ", "", '<w:ffData><w:checkBox><w:default w:val="0"/></w:checkBox></w:ffData>', "☐"),
        (
            " FORMDROPDOWN ",
            None,
            '<w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="no"/><w:listEntry w:val="yes"/></w:ddList>'
            "</w:ffData>",
            "yes",
        ),
        (" FORMTEXT ", "", "<w:ffData/>", "[form field]"),
        (" FORMTEXT ", run("\u2002\u2002\u2002"), "<w:ffData/>", "[form field]"),
        (" FORMTEXT ", run("80"), "<w:ffData/>", "80"),
        (" FORMDROPDOWN ", None, "", "[form field]"),
        (" QUOTE </w:instrText><w:t>or</w:t><w:instrText>", run("two"), "", "two"),
        (
            f"IF {'</w:instrText></w:r>'}{field(' MERGEFIELD a ', run('9'))}<w:r><w:instrText>",
            run("two"),
            "",
            "two",
        ),
    ],
)
def test_a_field_is_what_it_shows(instruction: str, result: str | None, form: str, text: str) -> None:
    document = read(paragraph("a ", field(instruction, result, form), " b"))
    assert document.text == f"a {text} b"
    assert bool(document.left_out) == bool(MARK.search(text))


def test_a_field_that_never_ends_takes_no_words_away() -> None:
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
    assert (
        read(paragraph("It is ", begin, "5 mg."), paragraph("So it is.")).text == "It is 5 mg.\n\nSo it is."
    )


def marks(*kinds: str) -> str:
    return "".join(f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in kinds)


def instruction(words: str) -> str:
    return f"<w:r><w:instrText>{words}</w:instrText></w:r>"


@pytest.mark.parametrize(
    "between",
    ["", paragraph(instruction("and")), f"<w:tbl><w:tr><w:tc>{paragraph('x')}</w:tc></w:tr></w:tbl>"],
)
def test_the_instruction_of_a_field_goes_on_in_the_next_paragraph(between: str) -> None:
    inner = field(" MERGEFIELD a ", run("99"))
    document = read(
        paragraph("A ", marks("begin"), instruction(' IF "'), run("old 7"), inner),
        between,
        paragraph(instruction('b" '), inner, run("old 8"), marks("separate"), run("new"), marks("end"), " z"),
        paragraph("So it is."),
    )
    assert document.text.split("\n\n") == ["A", "new z", "So it is."]


def test_a_field_whose_end_is_deleted_or_elsewhere_takes_no_words_of_other_paragraphs_away() -> None:
    deleted = f"<w:del>{marks('separate', 'end')}</w:del>"
    for end in (
        paragraph("b ", deleted),
        f"<w:tbl><w:tr><w:tc>{paragraph(marks('end'))}</w:tc></w:tr></w:tbl>",
    ):
        text = read(paragraph("It is ", marks("begin"), "5 mg."), paragraph("So it is."), end).text
        assert text.startswith("It is 5 mg.\n\nSo it is.")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<m:oMath><m:r><m:t>x=5</m:t></m:r></m:oMath>", "a x=5 b"),
        (run("12"), "a 12 b"),
        ("", "a [field without a value] b"),
        (field(" REF c ", run("7")), "a 7 b"),
    ],
)
def test_a_simple_field_is_what_is_in_it(content: str, text: str) -> None:
    simple = f'<w:fldSimple w:instr=" REF dose ">{content}</w:fldSimple>'
    assert read(paragraph("a ", simple, " b")).text == text


def seconds(*paragraphs: str) -> float:
    began = time.monotonic()
    assert read(*paragraphs).text.count("x") == FIELDS
    return time.monotonic() - began


def test_fields_within_fields_take_no_longer_than_fields_side_by_side() -> None:
    opening, end = marks("begin", "separate") + run("x"), marks("end")
    flat = seconds(paragraph((opening + end) * FIELDS))
    assert seconds(paragraph(opening * FIELDS + end * FIELDS)) < 4 * flat + 1


def control(properties: str, content: str = "") -> str:
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"


def tick_box(value: str) -> str:
    return f'<w14:checkbox><w14:checked w14:val="{value}"/></w14:checkbox>'


@pytest.mark.parametrize(
    ("properties", "words", "value"),
    [
        ("<w:showingPlcHdr/>", "Click here to enter text.", "[form field]"),
        ('<w:showingPlcHdr w:val="0"/>', "7 m", "7 m"),
        ("<w:text/>", "", "[form field]"),
        ("<w:date/>", "1 May", "1 May"),
        ("<w:dropDownList/>", "Berth 7", "Berth 7"),
        (tick_box("1"), "", "☒"),
        (tick_box("0"), "", "☐"),
        ("<w14:checkbox/>", "", "☐"),
        (tick_box("1"), "☑", "☑"),
    ],
)
def test_a_content_control_is_what_somebody_filled_in(properties: str, words: str, value: str) -> None:
    content = run(words) if words else ""
    assert read(paragraph("a ", control(properties, content), " b")).text == f"a {value} b"
    block = control(properties, paragraph(content))
    assert read(paragraph("a"), block, paragraph("b")).text.split("\n\n") == ["a", value, "b"]
    row = f"<w:tbl><w:tr><w:tc>{paragraph('a')}</w:tc>{control(properties, f'<w:tc>{paragraph(content)}</w:tc>')}</w:tr></w:tbl>"
    assert read(row).text == f"a | {value}"


def test_numbers_of_pages_say_nothing_in_a_footer() -> None:
    section = '<w:sectPr><w:footerReference r:id="f1"/></w:sectPr>'
    numbers = (field(" PAGE ", None), "<w:r><w:pgNum/></w:r>", '<w:fldSimple w:instr=" NUMPAGES "/>')
    for number in numbers:
        footer = {"word/f.xml": part("ftr", paragraph(number))}
        document = read(paragraph("a"), section, parts=footer, relations=relation("f1", "footer", "f.xml"))
        assert document.text == "a"
        assert not document.left_out
        assert read(paragraph("a ", number)).text == "a [field without a value]"


BOX = f"<w:txbxContent>{paragraph('Only for adults.')}</w:txbxContent>"
BOXES = {
    "drawing": "<w:drawing><wp:anchor><a:graphic><a:graphicData uri='http://x/wordprocessingShape'><wps:wsp><wps:txbx>"
    f"{BOX}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing>",
    "VML": f"<w:pict><v:shape><v:textbox>{BOX}</v:textbox></v:shape></w:pict>",
    "WordArt": '<w:pict><v:shape><v:textpath string="Only for adults."/></v:shape></w:pict>',
}
BOXES["both"] = (
    f"<mc:AlternateContent><mc:Choice Requires='wps'>{BOXES['drawing']}</mc:Choice>"
    f"<mc:Fallback>{BOXES['VML']}</mc:Fallback></mc:AlternateContent>"
)
BOXES["both, with a newer one"] = BOXES["both"].replace("'wps'", "'wpx'")


@pytest.mark.parametrize("kind", BOXES)
def test_a_text_box_stands_behind_its_paragraph_as_such(kind: str) -> None:
    document = read(paragraph("The dose is 5", f"<w:r>{BOXES[kind]}</w:r>", "0 mg."), paragraph("Next."))
    assert document.text.split("\n\n") == ["The dose is 50 mg.", "[Text box] Only for adults.", "Next."]
    assert not document.left_out


def picture(kind: str, attributes: str = "", *, frame: str = "inline", inside: str = "") -> str:
    return (
        f"<w:r><w:drawing><wp:{frame}><wp:docPr id='1' name='x' {attributes}>{inside}</wp:docPr><a:graphic>"
        f"<a:graphicData uri='http://x/{kind}'/></a:graphic></wp:{frame}></w:drawing></w:r>"
    )


DECORATIVE = (
    "<a:extLst><a:ext><adec:decorative xmlns:adec='http://schemas.microsoft.com/office/drawing/2017/decorative' val='1'/>"
    "</a:ext></a:extLst>"
)
OLE = "<w:r><w:object><v:shape><v:imagedata/></v:shape><o:OLEObject ProgID='{}'/></w:object></w:r>"
VML_PICTURE = "<w:r><w:pict><v:shape><v:imagedata/></v:shape></w:pict></w:r>"


@pytest.mark.parametrize(
    ("graphic", "text", "entries"),
    [
        (picture("picture", "descr='Rain by month'"), "a [Image: Rain by month] b", {}),
        (picture("picture", "descr='1'"), "a [Image: 1] b", {}),
        (picture("picture"), "a [picture without text] b", {"picture without text": 1}),
        (picture("picture", inside=DECORATIVE), "ab", {}),
        (picture("picture", frame="anchor"), "ab\n\n[picture without text]", {"picture without text": 1}),
        (picture("chart"), "a [chart] b", {"chart": 1}),
        (picture("diagram"), "a [drawing] b", {"drawing": 1}),
        (picture("what-comes-next"), "a [embedded object] b", {"embedded object": 1}),
        (VML_PICTURE, "a [picture without text] b", {"picture without text": 1}),
        ("<w:r><w:pict><v:rect o:hr='t'/></w:pict></w:r>", "ab", {}),
        (OLE.format("Equation.3"), "a [formula] b", {"formula": 1}),
        (OLE.format("Excel.Sheet.12"), "a [embedded object] b", {"embedded object": 1}),
        ("<w:r><w:object><w:control/></w:object></w:r>", "a [form field] b", {"form field": 1}),
    ],
)  # fmt: skip
def test_a_graphic_is_its_text_or_a_mark(graphic: str, text: str, entries: dict[str, int]) -> None:
    document = read(paragraph("a", graphic, "b"))
    assert document.text == text
    assert left_out(document) == entries


def test_the_mark_of_a_graphic_joins_no_words() -> None:
    art = "<a:graphic><a:graphicData uri='http://x/picture'/></a:graphic>"
    picture = f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="P"/>{art}</wp:inline></w:drawing></w:r>'
    arrow = '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="P" descr="→"/></wp:inline></w:drawing></w:r>'
    assert read(paragraph(picture, "The bay")).text == "[picture without text] The bay"
    assert read(paragraph("12", picture, "34")).text == "12 [picture without text] 34"
    assert read(paragraph("12 ", picture, "<w:r><w:br/></w:r>", "34")).text == "12 [picture without text]\n34"
    assert read(paragraph("5 ", arrow, "g")).text == "5 →g"


def test_headers_and_footers_that_are_shown_stand_once_and_as_such() -> None:
    def edge(kind: str, words: str) -> str:
        return part("hdr" if kind == "header" else "ftr", paragraph(words))

    watermark = f"<w:r>{BOXES['WordArt'].replace('Only for adults.', 'DRAFT')}</w:r>"
    parts = {
        "word/header1.xml": edge("header", watermark),
        "word/header2.xml": edge("header", "SUPERSEDED"),
        "word/header3.xml": edge("header", "of even pages, which nobody sees"),
        "word/footer1.xml": edge("footer", "Harbour board, 2024"),
        "word/footer2.xml": edge("footer", "7"),
    }
    relations = "".join(
        relation(name.removesuffix(".xml"), name[:6], f"{name}")
        for name in ("header1.xml", "header2.xml", "header3.xml", "footer1.xml", "footer2.xml")
    )
    section = (
        "<w:sectPr><w:headerReference w:type='default' r:id='header1'/><w:headerReference w:type='first' r:id='header2'/>"
        "<w:headerReference w:type='even' r:id='header3'/><w:footerReference w:type='default' r:id='footer1'/>"
        "<w:footerReference w:type='first' r:id='footer2'/>{}</w:sectPr>"
    )
    body = paragraph("The quay is long.", properties=section.format("")) + section.format("<w:titlePg/>")
    document = read_docx(word_file(body, parts=parts, relations=relations), name="a")
    assert document.text.split("\n\n") == [
        "[Header] [Text box] DRAFT",
        "[Header] SUPERSEDED",
        "The quay is long.",
        "[Footer] Harbour board, 2024",
    ]


def test_comments_are_listed_with_the_heading_that_they_are_below() -> None:
    style = '<w:style w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>'
    comment = "<w:r><w:commentReference w:id='1'/></w:r>"
    document = read(
        paragraph("Results", properties='<w:pStyle w:val="Heading1"/>'),
        paragraph("It works.", comment),
        paragraph("Always.", comment),
        parts={"word/styles.xml": part("styles", style)},
    )
    assert document.text == "Results\n\nIt works.\n\nAlways."
    (omission,) = document.left_out
    assert (omission.kind, omission.count, omission.place) == ("comment", 2, "below “Results”")


def test_two_equations_of_one_paragraph_stay_apart() -> None:
    one, two = (f"<m:oMath><m:r><m:t>{words}</m:t></m:r></m:oMath>" for words in ("a=1", "2=b"))
    assert read(paragraph(f"<m:oMathPara>{one}{two}</m:oMathPara>")).text == "a=1\n2=b"
    assert re.fullmatch(
        r"So\s+a=1\s+2=b\s+7", read(paragraph("So ", one, two, "<w:r><w:br/></w:r>", "7")).text
    )
