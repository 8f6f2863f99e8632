"""No element of a Word file goes by in silence: it is read, leaves a mark, or has no words by the table."""

import pytest
from support.word_files import paragraph, part, relation, run, word_file

from chiron_workers.documents.docx import read_docx
from chiron_workers.documents.docx_elements import ELEMENTS, WORD_ELEMENTS, Rule, W
from chiron_workers.documents.docx_formulas import FORMULA_ELEMENTS
from chiron_workers.documents.docx_words import WRITERS
from chiron_workers.documents.omissions import MARK

# The groups of the schema of ECMA-376 that have what may stand in a body, a paragraph, a run, a table and a formula.
CONTENT_WORDS = """
    p tbl sdt customXml altChunk sectPr ins del moveFrom moveTo proofErr permStart permEnd bookmarkStart bookmarkEnd
    moveFromRangeStart moveFromRangeEnd moveToRangeStart moveToRangeEnd commentRangeStart commentRangeEnd
    customXmlInsRangeStart customXmlInsRangeEnd customXmlDelRangeStart customXmlDelRangeEnd customXmlMoveFromRangeStart
    customXmlMoveFromRangeEnd customXmlMoveToRangeStart customXmlMoveToRangeEnd smartTag dir bdo r fldSimple hyperlink subDoc
    br t contentPart delText instrText delInstrText noBreakHyphen softHyphen dayShort monthShort yearShort dayLong monthLong
    yearLong annotationRef footnoteRef endnoteRef separator continuationSeparator sym pgNum cr tab object pict fldChar ruby
    footnoteReference endnoteReference commentReference drawing ptab lastRenderedPageBreak tr tc tblPr tblGrid tblPrEx trPr
    tcPr pPr rPr sdtPr sdtEndPr sdtContent smartTagPr customXmlPr rubyPr rt rubyBase fldData objectEmbed objectLink control
    movie
"""
FORMULA_WORDS = """
    acc bar box borderBox d eqArr f func groupChr limLow limUpp m nary phant rad sPre sSub sSubSup sSup r t oMath e num den
    sub sup deg fName lim mr accPr barPr boxPr borderBoxPr dPr eqArrPr fPr funcPr groupChrPr limLowPr limUppPr mPr naryPr
    phantPr radPr sPrePr sSubPr sSubSupPr sSupPr argPr ctrlPr rPr
"""
UNKNOWN = "<w:next><w:r><w:t>9</w:t></w:r></w:next>"
FOREIGN = "<x:next><x:t>9</x:t></x:next>"
PLACES = {
    "body": "{}" + paragraph("a"),
    "paragraph": "<w:p>" + run("5") + "{}" + run("6") + "</w:p>",
    "run": "<w:p><w:r><w:t>5</w:t>{}<w:t>6</w:t></w:r></w:p>",
    "text": "<w:p><w:r><w:t>5{}6</w:t></w:r></w:p>",
    "insertion": "<w:p><w:ins>{}</w:ins></w:p>",
    "table": "<w:tbl>{}<w:tr><w:tc>" + paragraph("a") + "</w:tc></w:tr></w:tbl>",
    "row": "<w:tbl><w:tr><w:tc>" + paragraph("5") + "</w:tc>{}</w:tr></w:tbl>",
    "cell": "<w:tbl><w:tr><w:tc>{}" + paragraph("5") + "</w:tc></w:tr></w:tbl>",
    "formula": "<w:p><m:oMath><m:r><m:t>5</m:t></m:r>{}<m:r><m:t>6</m:t></m:r></m:oMath></w:p>",
    "numerator": "<w:p><m:oMath><m:f><m:num>{}</m:num><m:den/></m:f></m:oMath></w:p>",
    "text box": (
        "<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent>{}</w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
    ),
}


def test_the_table_has_every_element_that_the_schema_allows_where_text_is() -> None:
    assert set(CONTENT_WORDS.split()) <= set(WORD_ELEMENTS)
    assert set(FORMULA_WORDS.split()) == {tag.rpartition("}")[2] for tag in FORMULA_ELEMENTS} - {
        "oMathParaPr"
    }
    assert {tag for tag, treatment in ELEMENTS.items() if treatment is Rule.WRITER} == set(WRITERS)


@pytest.mark.parametrize("element", [UNKNOWN, FOREIGN])
@pytest.mark.parametrize("place", PLACES)
def test_an_element_that_no_table_knows_leaves_a_mark_between_what_is_beside_it(
    place: str, element: str
) -> None:
    document = read_docx(word_file(PLACES[place].format(element)), name="a")
    assert MARK.search(document.text)
    assert "9" not in document.text
    assert "56" not in document.text
    assert len(document.left_out) == 1


@pytest.mark.parametrize("kind", ["header", "footnotes"])
def test_an_unknown_element_of_another_part_leaves_a_mark(kind: str) -> None:
    root, body = (
        ("hdr", UNKNOWN)
        if kind == "header"
        else ("footnotes", f"<w:footnote w:id='2'>{UNKNOWN}</w:footnote>")
    )
    section = "<w:sectPr><w:headerReference r:id='r1'/></w:sectPr>"
    data = word_file(
        paragraph("a") + section,
        parts={f"word/{kind}.xml": part(root, body)},
        relations=relation("r1", kind, f"{kind}.xml"),
    )
    assert MARK.search(read_docx(data, name="a").text)


@pytest.mark.parametrize("name", sorted(set(WORD_ELEMENTS) - {"p", "body", "t", "tbl", "r", "tr", "tc"}))
def test_words_within_any_element_are_read_or_named(name: str) -> None:
    words = "<w:r><w:t>nine</w:t></w:r>"
    element = f"<w:{name}>{words}</w:{name}>"
    if name == "ruby":
        element = f"<w:ruby><w:rubyBase>{words}</w:rubyBase></w:ruby>"
    document = read_docx(word_file(f"<w:p>{run('5')}{element}{run('6')}</w:p>"), name="a")
    has_no_words = ELEMENTS[f"{W}{name}"] in (Rule.NOTHING, "\n", "\t", "\u2011")
    # Of these the words are not in elements within them.
    is_empty = name in (
        "fldChar",
        "instrText",
        "sym",
        "footnoteReference",
        "endnoteReference",
        "pict",
        "drawing",
        "object",
    )
    assert "nine" in document.text or document.left_out or has_no_words or is_empty


def test_a_reference_to_an_entity_leaves_a_mark() -> None:
    body = f"<w:body>{paragraph('5 &micro;g')}</w:body>"
    xml = '<!DOCTYPE w:document [<!ENTITY micro "m">]>' + part("document", body)
    assert read_docx(word_file(parts={"word/document.xml": xml}), name="a").text == "5 [sign]g"
