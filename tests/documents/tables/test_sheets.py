"""What a sheet shows beside its values: formats, errors, merged cells, what is hidden."""

import re
import time
import zipfile
from datetime import date, datetime
from io import BytesIO

import pytest
import xlsxwriter
from documents.tables.test_query import GOLDEN, ask, described, made

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.omissions import Omission
from chiron_workers.documents.read_file import Part, read_file
from chiron_workers.documents.tables.cell_formats import parse_format
from chiron_workers.documents.tables.sheet_details import read_details


def workbook(fill) -> bytes:
    file = BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        fill(book)
    return file.getvalue()


def rates(book: xlsxwriter.Workbook) -> None:
    sheet = book.add_worksheet("Rates")
    sheet.write_row(0, 0, ["port", "growth", "fee", "mass", "worked", "ratio"])
    formats = [
        None,
        *(
            book.add_format({"num_format": code})
            for code in ("0.0%", "#,##0.00 [$€-407]", '0.0" kg"', "[h]:mm")
        ),
    ]
    for row, values in enumerate(
        [["Orm", 0.075, 1250.5, 3.5, 30.25 / 24], ["Ulv", 0.5, 80, 4, 0.5]], start=1
    ):
        sheet.write(row, 0, values[0])
        for column in range(1, 5):
            sheet.write_number(row, column, values[column], formats[column])
    sheet.write_formula(1, 5, "=1/0", None, "#DIV/0!")
    sheet.write_formula(2, 5, "=B3/C3", None, 0.00625)
    sheet.set_row(2, None, None, {"hidden": True})
    sheet.set_column(3, 3, None, None, {"hidden": True})
    sheet.write_comment(1, 1, "estimated")
    book.add_worksheet("Old").hide()


def without_values(data: bytes) -> bytes:
    """The workbook as a program writes it that calculates nothing."""
    file = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(
                name, old.read(name).replace(b"<v>0.00625</v>", b"").replace(b' fullCalcOnLoad="1"', b"")
            )
    return file.getvalue()


def test_a_sheet_is_read_as_it_shows_its_values() -> None:
    content = read_file(workbook(rates), "rates.xlsx", Part())
    assert content.text.split("\n") == [
        "port,growth,fee,mass,worked,ratio",
        "Orm,7.5%,1250.5 €,3.5 kg,30:15,#DIV/0!",
        "Ulv,50%,80 €,4 kg,12:00,0.00625",
    ]
    assert list(content.notes) == [
        "Hidden in the sheet, and read here: row 3.",
        "Hidden in the sheet, and read here: column D.",
        "The workbook waits to be calculated: values of formulas may be missing or old.",
        "Hidden in the workbook: the sheet Old.",
    ]
    assert content.left_out == (Omission("comment", 1, "sheet Rates"),)


def test_a_table_keeps_the_numbers_and_has_their_formats_as_notes() -> None:
    [table] = described(made(workbook(rates), "rates.xlsx"))
    assert [column.type for column in table.columns] == [
        "VARCHAR",
        "DOUBLE",
        "DOUBLE",
        "DOUBLE",
        "VARCHAR",
        "DOUBLE",
    ]
    assert table.left_out == (Omission("comment", 1, "sheet Rates"),)
    for note in (
        '"growth": 0.075 is shown as 7.5% (2 cells with this format).',
        '"fee": 1250.5 is shown as 1250.5 € (2 cells with this format).',
        '"mass": 3.5 is shown as 3.5 kg (2 cells with this format).',
        'Durations in hours and minutes, as text such as 30:15: "worked".',
        "Errors are null here: F2 #DIV/0!.",
    ):
        assert note in table.notes
    answer = ask(made(workbook(rates), "rates.xlsx"), "select sum(growth) from rates_rates")
    assert answer.left_out == table.left_out
    assert answer.rows == [[0.575]]
    assert 'rates_rates: "growth": 0.075 is shown as 7.5% (2 cells with this format).' in answer.notes


def test_a_formula_without_a_value_leaves_a_mark() -> None:
    data = without_values(workbook(rates))
    content = read_file(data, "rates.xlsx", Part())
    assert content.text.split("\n")[2].endswith(",[formula]")
    assert Omission("formula without a value", 1, "sheet Rates, F3") in content.left_out
    [table] = described(made(data, "rates.xlsx"))
    assert Omission("formula without a value", 1, "sheet Rates, F3") in table.left_out


def grouped(book: xlsxwriter.Workbook) -> None:
    sheet = book.add_worksheet("Shops")
    sheet.merge_range(0, 0, 0, 4, "Income and cost")
    sheet.merge_range(1, 0, 2, 0, "shop")
    sheet.merge_range(1, 1, 1, 2, "2021")
    sheet.merge_range(1, 3, 1, 4, "2022")
    sheet.write_row(2, 1, ["income", "cost", "income", "cost"])
    sheet.write_row(3, 0, ["North", 100, 70, 120, 90])
    sheet.write_row(4, 0, ["South", 50, 30, 55, 35])


def test_merged_cells_are_repeated_and_name_the_columns_below_them() -> None:
    data = workbook(grouped)
    assert (
        read_file(data, "shops.xlsx", Part(2, 3)).text
        == "shop,2021,2021,2022,2022\nshop,income,cost,income,cost"
    )
    [table] = described(made(data, "shops.xlsx"))
    assert [(column.name, column.type) for column in table.columns] == [
        ("shop", "VARCHAR"),
        *((name, "BIGINT") for name in ("2021 income", "2021 cost", "2022 income", "2022 cost")),
    ]
    assert table.notes == [
        "The names of the columns are those of rows 2 and 3. Above stands: Income and cost.",
        "Merged cells, whose value is repeated in each: A1:E1, A2:A3, B2:C2, D2:E2.",
    ]


def test_texts_of_a_sheet_that_look_like_groups_of_digits_stay_text() -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        book.add_worksheet().write_column(0, 0, ["people", "1.500", "12.400"])

    [table] = described(made(workbook(fill), "a.xlsx"))
    assert (table.columns[0].type, table.columns[0].samples) == ("VARCHAR", ["1.500", "12.400"])


ODS_ROWS = (
    '<table:table-row><table:table-cell office:value-type="string"><text:p>port</text:p></table:table-cell>'
    '<table:table-cell office:value-type="string"><text:p>growth</text:p></table:table-cell></table:table-row>'
    '<table:table-row table:visibility="collapse">'
    '<table:table-cell office:value-type="percentage" office:value="0.075"><text:p>7.5%</text:p></table:table-cell>'
    '<table:table-cell table:number-columns-repeated="2" office:value-type="currency" office:currency="EUR" office:value="12.5">'
    "<text:p>12,50 €</text:p></table:table-cell>"
    '<table:table-cell office:value-type="time" office:time-value="PT30H15M00S"><text:p>30:15</text:p></table:table-cell>'
    '<table:table-cell table:number-columns-spanned="2" office:value-type="float" office:value="3"><text:p>3</text:p>'
    "</table:table-cell><table:covered-table-cell/></table:table-row>"
)


def test_a_text_with_groups_of_digits_leaves_the_numbers_of_other_columns() -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet()
        for n, row in enumerate([["people", "share", "count"], ["1.500", 0.125, 1], ["12.400", 1.5, 2]]):
            sheet.write_row(n, 0, row)

    [table] = described(made(workbook(fill), "a.xlsx"))
    assert [column.type for column in table.columns] == ["VARCHAR", "DOUBLE", "BIGINT"]


def opendocument(rows: str, styles: str = "", *, pages: str = "") -> bytes:
    names = {"office": "office", "table": "table", "text": "text", "style": "style", "draw": "drawing"}
    spaces = " ".join(
        f'xmlns:{key}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for key, name in names.items()
    )
    spaces += ' xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml",
            f'<?xml version="1.0"?><office:document-content {spaces}><office:automatic-styles>{styles}</office:automatic-styles>'
            f'<office:body><office:spreadsheet><table:table table:name="A">{rows}</table:table></office:spreadsheet>'
            "</office:body></office:document-content>",
        )
        archive.writestr("styles.xml", f"<office:document-styles {spaces}>{pages}</office:document-styles>")
        manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
        archive.writestr("META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{manifest}"/>')
    return file.getvalue()


def cell(kind: str, text: str, value: str = "", more: str = "") -> str:
    """A cell of an OpenDocument sheet; `text` may have elements in it."""
    attribute = {"date": "date-value", "string": "string-value"}.get(kind, "value")
    shown = f' office:{attribute}="{value}"' if value or more else ""
    return f'<table:table-cell office:value-type="{kind}"{shown} {more}><text:p>{text}</text:p></table:table-cell>'


def row_of(*cells: str) -> str:
    return f"<table:table-row>{''.join(cells)}</table:table-row>"


def test_a_sheet_of_an_opendocument_file_is_read_as_it_shows_its_values() -> None:
    content = read_file(opendocument(ODS_ROWS), "a.ods", Part())
    assert content.text.split("\n")[1].startswith("7.5%,12.5 EUR,12.5 EUR,30:15,3")
    assert content.notes == (
        "Hidden in the sheet, and read here: row 2.",
        "Merged cells, whose value is repeated in each: E2:F2.",
    )


@pytest.mark.parametrize(
    ("ods_cell", "shown", "value"),
    [
        (cell("float", "#DIV/0!", "0", 'table:formula="of:=1/0"'), "#DIV/0!", None),
        (cell("float", "Err:502", "0", 'table:formula="of:=X()"'), "Err:502", None),
        (cell("string", "#N/A", "", 'table:formula="of:=NA()" calcext:value-type="error"'), "#N/A", None),
        (cell("float", "5 kg", "5"), "5 kg", 5),
        (cell("float", "1.235 kg", "1234.56"), "1234.56 kg", 1234.56),
        (cell("float", "-$5.00", "-5"), "-$5", -5),
        (cell("float", "00501", "501"), "00501", 501),
        (cell("float", "2.5M", "2500000"), "2.5M", 2_500_000),
        (cell("float", "1/2", "0.5"), "1/2", 0.5),
        (cell("float", "1.234,50", "1234.5"), "1234.5", 1234.5),
        (cell("float", "1.23E+05", "123000"), "123000", 123000),
        (cell("date", "Mar 2020", "2020-03-01"), "Mar 2020", "2020-03-01"),
        (cell("date", "01.03.20", "2020-03-01"), "2020-03-01", "2020-03-01"),
        (cell("string", '10<text:span text:style-name="T1">6</text:span> m'), "10⁶ m", "10⁶ m"),
        (cell("string", 'CO<text:span text:style-name="T2">2</text:span>'), "CO₂", "CO₂"),
        (cell("string", 'Fee <text:span text:style-name="T3">80</text:span> 90'), "Fee  90", "Fee  90"),
        (cell("string", "5<text:line-break/>6"), "5 6", "5\n6"),
        (cell("string", "5<text:tab/>6"), "5\t6", "5\t6"),
        (cell("string", "#1 cause"), "#1 cause", "#1 cause"),
        (cell("float", "80", "80", 'table:style-name="ce1"'), "", None),
    ],
)
def test_a_cell_of_an_opendocument_file_is_what_the_sheet_shows(
    ods_cell: str, shown: str, value: object
) -> None:
    styles = "".join(
        f'<style:style style:name="{name}"><style:text-properties style:{attribute}/></style:style>'
        for name, attribute in {
            "T1": 'text-position="super 58%"',
            "T2": 'text-position="-33% 58%"',
            "T3": 'text-line-through-style="solid"',
            "ce1": 'text-line-through-style="solid"',
        }.items()
    )
    data = opendocument(
        row_of(cell("string", "a"), cell("string", "b")) + row_of(ods_cell, cell("string", "x")), styles
    )
    assert read_file(data, "a.ods", Part()).text == f"a,b\n{shown},x"
    [table] = described(made(data, "a.ods"))
    assert table.columns[0].samples == [value]
    notes = " ".join(table.notes) + str(table.left_out)
    is_bare = shown in (str(value), "5 6")
    assert is_bare or shown.rstrip("!") in notes
    assert ("struck out" in notes) == ("T3" in ods_cell or "ce1" in ods_cell)


def test_hidden_columns_and_drawn_texts_of_an_opendocument_file_are_named() -> None:
    columns = '<table:table-column/><table:table-column table:visibility="collapse" table:number-columns-repeated="2"/>'
    shape = "<table:shapes><draw:custom-shape><text:p>DRAFT</text:p></draw:custom-shape></table:shapes>"
    pages = (
        "<style:header><text:p>DRAFT</text:p></style:header><style:footer><text:p>Page <text:page-number>1</text:page-number>"
        '</text:p></style:footer><style:header-left style:display="false"><text:p>Old</text:p></style:header-left>'
    )
    data = opendocument(shape + columns + row_of(*(cell("string", word) for word in "abcd")), pages=pages)
    content = read_file(data, "a.ods", Part())
    assert content.notes == ("Hidden in the sheet, and read here: columns B, C.",)
    assert content.left_out == (
        Omission("text of a drawing", 1, "sheet A, “DRAFT”"),
        Omission("page header", 1, "sheet A, “DRAFT”"),
    )
    assert read_file(opendocument(row_of(cell("string", "a")), pages=pages), "a.ods", Part()).left_out


def scripts(book: xlsxwriter.Workbook) -> None:
    sheet = book.add_worksheet("A")
    raised, lowered, struck = (
        book.add_format(form) for form in ({"font_script": 1}, {"font_script": 2}, {"font_strikeout": True})
    )
    sheet.write_row(0, 0, ["what", "value"])
    sheet.write_rich_string(1, 0, "10", raised, "6", " m")
    sheet.write(1, 1, 5)
    sheet.write_rich_string(2, 0, "CO", lowered, "2", " level")
    sheet.write(2, 1, 7, struck)
    sheet.write_rich_string(3, 0, "Fee ", struck, "80", " 90")
    sheet.write_blank(3, 1, None, struck)
    sheet.set_header('&L&"Arial,Bold"&12DRAFT &P')
    sheet.set_footer("&CPage &P of &N")
    sheet.insert_textbox(4, 4, "Old figures")
    chart = book.add_chart({"type": "line"})
    chart.add_series({"values": "=A!$B$2:$B$3"})
    book.add_chartsheet("Curve").set_chart(chart)


@pytest.mark.parametrize("is_inline", [False, True])
def test_raised_and_struck_words_of_a_sheet_are_read_as_such(is_inline: bool) -> None:
    data = workbook(scripts)
    if is_inline:
        data = with_inline_texts(data)
    content = read_file(data, "a.xlsx", Part())
    assert content.text.split("\n") == ["what,value", "10⁶ m,5", "CO₂ level,", "Fee  90,"]
    assert set(content.left_out) == {
        Omission("page header", 1, "sheet A, “DRAFT”"),
        Omission("text of a drawing", 1, "sheet A, “Old figures”"),
        Omission("passage that is struck out", 1, "sheet A, A4"),
        Omission("cell that is struck out", 1, "sheet A, B3"),
        Omission("sheet with a chart", 1, "sheet Curve"),
    }
    [table] = described(made(data, "a.xlsx"))
    assert table.columns[0].samples == ["10⁶ m", "CO₂ level", "Fee  90"]
    assert set(table.left_out) == set(content.left_out)


def with_inline_texts(data: bytes) -> bytes:
    """The workbook as a program writes it that has the texts in the cells."""
    file = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        texts = re.findall(rb"<si>(.*?)</si>", old.read("xl/sharedStrings.xml"))
        for name in old.namelist():
            content = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                content = re.sub(
                    rb't="s"><v>(\d+)</v>',
                    lambda match: b't="inlineStr"><is>' + texts[int(match[1])] + b"</is>",
                    content,
                )
            new.writestr(name, content)
    return file.getvalue()


def test_an_old_workbook_says_that_its_formats_are_not_read() -> None:
    content = read_file((GOLDEN / "beds.xls").read_bytes(), "beds.xls", Part())
    assert [omission.kind for omission in content.left_out] == [
        "set of cell formats (such as % and currencies)"
    ]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("0.0%", "125050%"),
        ("0 %", "125050 %"),
        ('"$"#,##0.00_);[Red]("$"#,##0.00)', "$1250.5"),
        ("_-* #,##0.00 €_-", "1250.5 €"),
        ("[$USD] 0", "USD 1250.5"),
        ('0.0,"k"', "1.2505k"),
        ('#,##0 "people"', "1250.5 people"),
        ('General" kg"', "1250.5 kg"),
        ("General", None),
        ("0.00", None),
        ("0.00E+00", None),
        ("# ?/?", None),
        ("yyyy-mm-dd", None),
        ("[h]:mm", None),
        ("000-0000", None),
        ("+0.0;-0.0", None),
        ("@", None),
        ('"', None),
        ("", None),
    ],
)
def test_a_format_shows_what_stands_beside_the_number(code: str, shown: str | None) -> None:
    found = parse_format(code)
    assert (found and found.shown(1250.5)) == shown


MILLIONS = '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0'
DIRECTIONS = '"up" 0;"down" 0;"same"'


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        (MILLIONS, 500, "500"),
        (MILLIONS, 2500, "2.5K"),
        (MILLIONS, 2_500_000, "2.5M"),
        (DIRECTIONS, 3, "up 3"),
        (DIRECTIONS, -3, "down 3"),
        (DIRECTIONS, 0, "same"),
        ("[<1]0.0%;0", 0.075, "7.5%"),
        ("[<1]0.0%;0", 12, "12"),
        ("[Red][<0]0.0%;0.0%", -0.075, "-7.5%"),
        ("0.0%;-0.0%", -0.075, "-7.5%"),
        ("0.0%;[Red]0.0%", -0.075, "-7.5%"),
        ('"$"0_);("$"0)', -5, "-$5"),
        ('"$"0', -5, "-$5"),
        ('"yes";;"no"', 1, "yes"),
        ('"yes";;"no"', 0, "no"),
        ('"yes";;"no"', -1, None),
        ("0;-0;;@", 0, None),
        ('_-* #,##0 €_-;-* #,##0 €_-;_-* "-"?? €_-;_-@_-', 0, None),
        ('[DBNum1]0" kg"', 5, None),
        ("0;[>5]0%;0%", 7, None),
        ("00000", 501, "00501"),
        ("00000", -501, "-00501"),
        ('"A"0000', 42, "A0042"),
        ("000-00-0000", 12345678, "012-34-5678"),
        ("(000) 000\\-0000", 5551234567, "(555) 123-4567"),
        ("#-000", 7, None),
        ("mmm yyyy", date(2020, 3, 1), "2020-03"),
        ("yyyy", date(2020, 3, 1), "2020"),
        ("[$-409]mmm\\-yy;@", datetime(2020, 3, 1, 5), "2020-03"),
        ("d mmm", date(2020, 3, 1), None),
    ],
)
def test_a_format_shows_a_value_by_the_section_for_it(
    code: str, value: float | date, shown: str | None
) -> None:
    cell_format = parse_format(code)
    assert cell_format
    assert cell_format.shown(value) == shown


def test_formats_of_codes_and_partial_dates_are_shown_and_noted() -> None:
    def fill(book: xlsxwriter.Workbook) -> None:
        sheet = book.add_worksheet("A")
        sheet.write_row(0, 0, ["code", "sales", "month", "day", "time"])
        codes = ["00000", MILLIONS, "mmm yyyy", "d mmm", "[mm]:ss.00"]
        for column, (code, value) in enumerate(
            zip(codes, [501, 500, 43891, 43891, 62.35 / 86400], strict=True)
        ):
            sheet.write_number(1, column, value, book.add_format({"num_format": code}))
            sheet.write_number(2, column, value, book.add_format({"num_format": code}))

    data = workbook(fill)
    text = read_file(data, "a.xlsx", Part()).text
    assert text.split("\n")[1] == "00501,500,2020-03,2020-03-01,0:01:02.35"
    [table] = described(made(data, "a.xlsx"))
    assert table.notes[:3] == [
        '"code": 501 is shown as 00501 (2 cells with this format).',
        '"month": 2020-03-01 is shown as 2020-03 (2 cells with this format).',
        '"day": 2020-03-01 is shown by `d mmm`, which is not read (2 cells with this format).',
    ]


@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("xl/styles.xml", b"<broken"),
        ("xl/styles.xml", b"<x/>" + b" " * 21_000_000),
        ("xl/styles.xml", b'<styleSheet><numFmts><numFmt numFmtId="x"/></numFmts></styleSheet>'),
        ("xl/_rels/workbook.xml.rels", None),
        ("xl/comments1.xml", None),
        ("xl/worksheets/_rels/sheet1.xml.rels", b"<Relationships><Relationship/></Relationships>"),
    ],
)
def test_a_part_that_is_broken_costs_no_cell(part: str, content: bytes | None) -> None:
    file = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(workbook(rates))) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            if name != part:
                new.writestr(name, old.read(name))
            elif content is not None:
                new.writestr(name, content)
    try:
        text = read_file(file.getvalue(), "rates.xlsx", Part()).text
    except UnreadableError as error:
        assert str(error) == "it is no whole workbook"
    else:
        assert text.startswith("port,growth,fee,mass,worked,ratio\nOrm,")


def test_a_sheet_without_ends_of_its_tags_is_searched_in_a_short_time() -> None:
    began = time.process_time()
    for xml in (
        b'<row hidden="' * 20_000,
        b"<f " * 50_000,
        b'<c t="e"' * 10_000,
        b'<col hidden="1" ' * 20_000,
    ):
        file = BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", '<workbook xmlns:r="r"><sheet name="a" r:id="1"/></workbook>')
            archive.writestr(
                "xl/_rels/workbook.xml.rels",
                '<Relationships><Relationship Id="1" Target="a.xml"/></Relationships>',
            )
            archive.writestr("xl/a.xml", xml)
        read_details(file.getvalue(), "a")
    assert time.process_time() - began < 4
