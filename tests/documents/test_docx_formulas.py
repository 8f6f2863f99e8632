"""Formulas of Word on one line: none loses an operator, and no two numbers become one."""

import pytest
from support.word_files import paragraph, word_file

from chiron_workers.documents.docx import read_docx


def r(words: str) -> str:
    return f"<m:r><m:t>{words}</m:t></m:r>"


def element(name: str, properties: str = "", **arguments: str) -> str:
    inside = "".join(f"<m:{argument}>{words}</m:{argument}>" for argument, words in arguments.items())
    return f"<m:{name}><m:{name}Pr>{properties}</m:{name}Pr>{inside}</m:{name}>"


def value(name: str, words: str) -> str:
    return f'<m:{name} m:val="{words}"/>'


def fraction(over: str, under: str, kind: str = "bar") -> str:
    return element("f", value("type", kind), num=r(over), den=r(under))


def rows(*lines: str) -> str:
    cells = ("".join(f"<m:e>{r(cell)}</m:e>" for cell in line.split()) for line in lines)
    return f"<m:m>{''.join(f'<m:mr>{row}</m:mr>' for row in cells)}</m:m>"


def written(formula: str) -> str:
    return read_docx(word_file(paragraph(f"<m:oMath>{formula}</m:oMath>")), name="a").text


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (element("nary", sub=r("0"), sup=r("1"), e=r("2x dx")), "∫₀¹ 2x dx"),
        (element("nary", value("chr", "∑"), sub=r("i=1"), sup=r("10"), e=r("5")), "∑_(i=1)¹⁰ 5"),
        (element("nary", value("chr", "∏"), sub=r("k"), sup="", e=r("k")) + r("3"), "∏_k k 3"),
        (element("d", value("begChr", "|") + value("endChr", "|"), e=r("x−3")), "|x−3|"),
        (element("d", value("begChr", "⌊") + value("endChr", "⌋"), e=r("2.7")), "⌊2.7⌋"),
        (element("d", value("begChr", "[") + value("endChr", ")"), e=r("0,1")), "[0,1)"),
        (element("d", value("begChr", "") + value("endChr", "|"), e=r("x")), "x|"),
        (f"<m:d><m:e>{r('A')}</m:e><m:e>{r('B')}</m:e></m:d>", "(A|B)"),
        (element("d", e=fraction("6", "2", "noBar")), "C(6,2)"),
        (fraction("6", "2", "noBar"), "(6; 2)"),
        (element("d", e=fraction("6", "2")), "(6/2)"),
        (fraction("1", "2x"), "1/(2x)"),
        (fraction("1", "2") + r("3"), "1/2 3"),
        (fraction("1", "x") + element("d", e=r("y+1")), "1/x (y+1)"),
        (element("limUpp", e=r("x"), lim=r("2")), "overset(2, x)"),
        (element("limUpp", e=r("→"), lim=r("2")) + r("5"), "→² 5"),
        (r("2") + fraction("1", "2"), "2 1/2"),
        (r("2") + fraction("1", "2", "skw"), "2 1/2"),
        (r("2") + element("sPre", sub=r("6"), sup=r("14"), e=r("C")), "2 ¹⁴₆C"),
        (element("sPre", sub=r("6"), sup=r("14"), e=r("C")), "¹⁴₆C"),
        (element("bar", value("pos", "top"), e=r("x")), "x̄"),
        (element("bar", value("pos", "top"), e=r("xy")), "bar(xy)"),
        (element("bar", e=r("x")), "x̲"),
        (element("acc", e=r("p")), "p̂"),
        (element("acc", value("chr", "⃗"), e=r("AB")), "vec(AB)"),
        (element("acc", value("chr", "̇"), e=r("x")), "ẋ"),
        (element("groupChr", value("chr", "→"), e=r("heat")), "→(heat)"),
        (element("limLow", e=element("groupChr", e=r("a+b")), lim=r("2")), "(a+b)₂"),
        (element("func", fName=element("limLow", e=r("lim"), lim=r("x→0")), e=r("f(x)")), "lim_(x→0) f(x)"),
        (r("x") + element("func", fName=r("sin"), e=r("y")) + r("z"), "x sin y z"),
        (element("rad", deg=r("3"), e=r("8")), "³√8"),
        (r("x") + element("rad", deg=r("3"), e=r("8")), "x ³√8"),
        (r("2") + element("rad", value("degHide", "1"), deg="", e=r("x+1")), "2√(x+1)"),
        (element("sSup", e=r("10"), sup=r("5")) + r("3"), "10⁵ 3"),
        (element("sSup", e=fraction("1", "2"), sup=r("2")), "(1/2)²"),
        (element("sSup", e=r("e"), sup=r("−2x")), "e^(−2x)"),
        (element("sSup", e=r("x"), sup=r("′")), "x′"),
        (element("sSub", e=r("x"), sub=r("i")) + r("j"), "x_i j"),
        (element("sSubSup", e=r("x"), sub=r("1"), sup=r("2")), "x₁²"),
        (element("sSup", e=r("x"), sup=r("a" * 50)), f"x^{'a' * 50}"),
        (element("d", value("begChr", "[") + value("endChr", "]"), e=rows("1 2", "3 4")), "[1, 2; 3, 4]"),
        (r("2") + rows("1 2", "3 4"), "2[1, 2; 3, 4]"),
        (f"<m:eqArr><m:e>{r('x=1')}</m:e><m:e>{r('2=y')}</m:e></m:eqArr>", "x=1; 2=y"),
        (r("1") + element("phant", value("show", "0"), e=r("9")) + r("2"), "1 2"),
        (element("borderBox", "<m:strikeH/>", e=r("x")), "cancel(x)"),
        (element("borderBox", e=r("x")), "x"),
        (element("box", e=r("x")), "x"),
        (f"<w:del>{r('9')}</w:del><w:ins>{r('8')}</w:ins>", "8"),
        (f"{r('5 ')}<m:r><w:sym w:font='Symbol' w:char='F06D'/></m:r>{r('g')}", "5 µg"),
        (r("5 \uf06d"), "5 [sign]"),
        (f"{r('5')}<m:next>{r('6')}</m:next>{r('7')}", "5[formula]7"),
    ],
)  # fmt: skip
def test_a_formula_keeps_what_it_says(formula: str, text: str) -> None:
    assert written(formula) == text


BOOKMARK = '<w:bookmarkStart w:id="1" w:name="a"/>'
GONE = '<m:ctrlPr><w:del w:id="1"><w:rPr/></w:del></m:ctrlPr>'
SIGNS = '<w:rPr><w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/></w:rPr>'


@pytest.mark.parametrize(
    ("base", "power"),
    [
        (BOOKMARK + fraction("2", "3"), "(2/3)²"),
        (fraction("2", "3") + r(""), "(2/3)²"),
        (fraction("2", "3") + "<m:r><m:rPr/></m:r>", "(2/3)²"),
        (r("x") + fraction("2", "3"), "(x 2/3)²"),
        (element("box", e=fraction("2", "3")), "(2/3)²"),
        (element("d", e=BOOKMARK + fraction("2", "3")), "(2/3)²"),
        (element("d", e=BOOKMARK + fraction("6", "2", "noBar")), "C(6,2)²"),
        (element("rad", deg="", e=r("2")), "(√2)²"),
        (element("sSup", e=r("x"), sup=r("3")), "(x³)²"),
        (element("sSub", e=r("x"), sub=r("3")), "x₃²"),
        (r("x"), "x²"),
    ],
)
def test_a_power_belongs_to_the_whole_of_its_base(base: str, power: str) -> None:
    assert written(element("sSup", e=base, sup=r("2"))) == power


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (element("rad", value("degHide", "1"), deg=r("3"), e=r("8")), "√8"),
        (element("rad", value("degHide", "0"), deg=r("3"), e=r("8")), "³√8"),
        (element("nary", "<m:subHide/>" + value("supHide", "on"), sub=r("1"), sup=r("9"), e=r("x")), "∫ x"),
        (element("eqArr", value("maxDist", "1"), e=r("x&amp;=1")), "x=1"),
        (f"<m:eqArr><m:e>{r('x&amp;=1')}</m:e><m:e>{r('1&amp;2')}</m:e></m:eqArr>", "x=1; 1 2"),
        (element("eqArr", e=r("x=5#(1)")), "x=5 (1)"),
        (element("eqArr", e="<m:r><m:rPr><m:nor/></m:rPr><m:t>A&amp;B</m:t></m:r>"), "A&B"),
        (r("A&amp;B"), "A&B"),
    ],
)
def test_what_a_formula_does_not_show_is_not_in_its_text(formula: str, text: str) -> None:
    assert written(formula) == text


def test_letters_of_a_font_of_signs_in_a_formula_are_the_signs_that_it_shows() -> None:
    assert written(f"{r('5 ')}<m:r>{SIGNS}<m:t>m</m:t></m:r>{r('g')}") == "5 µg"
    assert (
        written(f"{r('5 ')}<m:r>{SIGNS.replace('Symbol', 'MT Extra')}<m:t>m</m:t></m:r>{r('g')}")
        == "5 [sign]g"
    )


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (
            r("x=")
            + element("f", GONE, num=f"<w:del>{r('1')}</w:del>", den=f"<w:del>{r('2')}</w:del>")
            + r("5"),
            "x=5",
        ),
        (r("x=") + element("rad", GONE, deg="", e=r("9")), "x=9"),
        (r("x=") + element("nary", GONE, sub=f"<w:del>{r('1')}</w:del>", sup="", e="") + r("5"), "x=5"),
        (r("x=") + '<m:r><w:del w:id="1"><w:rPr/></w:del><m:t>5</m:t></m:r>' + r("7"), "x=7"),
        (r("x=") + '<m:r><w:rPr><w:del w:id="1"/></w:rPr><m:t>5</m:t></m:r>' + r("7"), "x=7"),
    ],
)
def test_a_deleted_operator_or_run_is_left_out(formula: str, text: str) -> None:
    document = read_docx(word_file(paragraph(f"<m:oMath>{formula}</m:oMath>")), name="a")
    assert document.text == text
    assert "tracked deletion" in {omission.kind for omission in document.left_out}


def test_a_formula_keeps_apart_from_the_words_beside_it() -> None:
    half = f"<m:oMath>{fraction('1', '2')}</m:oMath>"
    document = read_docx(word_file(paragraph("It is 2", half, "3 and ", half, "x.")), name="a")
    assert document.text == "It is 2 1/2 3 and 1/2x."


def test_a_formula_within_formulas_is_read_as_deep_as_the_file_may_be() -> None:
    start, end = (
        "<m:d><m:e><m:sSup><m:e>",
        "</m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:e></m:d>",
    )
    assert written(start * 60 + r("x") + end * 60) == "(" * 60 + "x" + "²)" * 60
