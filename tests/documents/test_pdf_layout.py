"""The lines of a PDF are read as they are meant: columns, headings, turned text and words divided at the end of a line."""

import pytest
from support.pdf_files import beside, line, lines, pdf_file

from chiron_workers.documents.document import Document
from chiron_workers.documents.pdf import read_pdf
from chiron_workers.evidence.quotes.quotes import locate

NORTH = (
    "The northern mole was built in 1911 and",
    "it has stood in all the storms since, for",
    "its stones weigh more than forty tons.",
    "A lamp at its end burns every night.",
)
SOUTH = (
    "The southern mole was built in 1965 and",
    "the sea broke it in the first of winters,",
    "so that it was closed to all the traffic.",
    "It was never built again by anybody.",
)
WEST = tuple(words.replace("southern", "western") for words in SOUTH)


def read(*pages: str) -> Document:
    return read_pdf(pdf_file(*pages), name="a")


def text(*pages: str) -> str:
    return read(*pages).text.removeprefix("[Page 1]\n\n")


def test_columns_that_are_drawn_row_by_row_are_read_one_after_the_other() -> None:
    words = text(beside(NORTH, SOUTH, xs=(60, 320)))
    assert words == "\n".join(NORTH) + "\n\n" + "\n".join(SOUTH)
    assert locate("was built in 1911 and it has stood in all the storms", words)
    assert not locate("built in 1911 and The southern mole was built in 1965", words)


def test_columns_stay_apart_below_a_title_and_above_a_footer() -> None:
    title = line("The two moles of the harbour of Exampleton, a history in brief", 110, 740)
    footer = line("The harbour board, page 7 of the yearbook, printed in Exampleton", 110, 600)
    words = text(title + beside(NORTH[:3], SOUTH[:3], xs=(60, 320)) + footer)
    assert words.index(NORTH[2]) < words.index(SOUTH[0])
    assert words.startswith("The two moles")
    assert words.endswith("printed in Exampleton")


def test_three_columns_and_a_word_divided_at_the_end_of_one() -> None:
    columns = [
        tuple(
            part
            for words in column
            for part in (words[: len(words) // 2].strip(), words[len(words) // 2 :].strip())
        )
        for column in (NORTH, SOUTH, WEST)
    ]
    columns[0] = (*columns[0][:-2], "A lamp is at its very be-", "ginning, and it burns by night.")
    words = text(beside(*columns, xs=(40, 230, 420)))
    assert "its very beginning, and it burns" in words
    assert words.index("A lamp is") < words.index("southern") < words.index("western")


def test_columns_whose_rows_are_at_other_heights_are_read_one_after_the_other() -> None:
    pairs = zip(NORTH, SOUTH, strict=True)
    content = "".join(
        line(left, 60, 700 - 14 * row) + line(right, 320, 695 - 14 * row)
        for row, (left, right) in enumerate(pairs)
    )
    words = text(content)
    assert words.index(NORTH[3]) < words.index(SOUTH[0])


def test_narrow_columns_are_told_from_a_table_by_lines_that_go_on() -> None:
    left, right = (
        ("The quay is", "very old and", "still in use."),
        ("The mole is", "younger, but", "it is closed."),
    )
    assert text(beside(left, right, xs=(60, 200))) == "\n".join(left) + "\n\n" + "\n".join(right)
    names, makers = (
        ("Anna Maria II", "Bonaventura", "Carolina Sun"),
        ("Werft Example", "Old Yard Ltd.", "Nobody Knows"),
    )
    assert text(beside(names, makers, xs=(60, 200))).split("\n")[0] == "Anna Maria II Werft Example"


def test_columns_in_order_a_table_and_a_turned_line_at_the_edge() -> None:
    assert text(lines(*NORTH) + lines(*SOUTH, x=320)).replace("\n\n", "\n") == "\n".join((*NORTH, *SOUTH))
    table = beside(
        ("Plant", "Broad bean", "Pea"), ("Month", "March", "April"), ("cm", "5", "3"), xs=(60, 220, 400)
    )
    assert text(table).split("\n") == ["Plant Month cm", "Broad bean March 5", "Pea April 3"]
    stamp = "BT /F1 20 Tf 0 1 -1 0 30 200 Tm (arXiv:2001.00001 of 1 Jan 2020) Tj ET\n"
    words = text(stamp + beside(NORTH, SOUTH, xs=(60, 320)))
    assert words.index(NORTH[3]) < words.index(SOUTH[0])


def test_a_table_within_a_column_hides_no_gutter() -> None:
    table = ("Year      Tons", "1911          40", "1912          52", "1913          61")
    rows = [
        line(year, 320, 630 - 14 * n) + line(tons, 450, 630 - 14 * n)
        for n, (year, *_, tons) in enumerate(map(str.split, table))
    ]
    left = lines(*NORTH, x=60, y=630)
    content = beside(NORTH, SOUTH, xs=(60, 320)) + "".join(
        piece for pair in zip(left.splitlines(keepends=True), rows, strict=True) for piece in pair
    )
    words = text(content)
    assert not locate("built in 1911 and The southern mole was built in 1965", words)


@pytest.mark.parametrize("turn", ["0 1 -1 0", "0 -1 1 0", "0.9 0.43 -0.43 0.9"])
def test_turned_lines_end_where_they_end(turn: str) -> None:
    content = "".join(
        f"BT /F1 12 Tf {turn} {200 + 20 * row} {300} Tm ({words}) Tj ET\n"
        for row, words in enumerate(("The pump has 40", "7 wheels are spare", "and 3 are lost"))
    )
    assert text(content).split("\n") == ["The pump has 40", "7 wheels are spare", "and 3 are lost"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("treated for COVID-", "19 with care", "treated for COVID-19 with care"),
        ("the drug GLP-", "1 and others", "the drug GLP-1 and others"),
        ("vitamin B-", "12 in all", "vitamin B-12 in all"),
        ("from 1990-", "1995 in all", "from 1990-1995 in all"),
        ("the treaty of coop-", "eration ended", "the treaty of cooperation ended"),
        ("a post-", "Soviet state", "a post-Soviet state"),
        ("the loss of HIV-", "RNA in blood", "the loss of HIV-RNA in blood"),
        ("THE LONG TREAT-", "MENT OF IT", "THE LONG TREATMENT OF IT"),
        ("well-known and well-", "known again", "well-known and well-known again"),
    ],
)
def test_a_hyphen_at_the_end_of_a_line_stays_where_it_means_something(
    before: str, after: str, words: str
) -> None:
    read_words = text(lines(before, after))
    assert read_words == words
    assert locate(f"{words}", f"{read_words}.") is not None


SENTENCE = (
    "Lake Orwena has three bays, of which the",
    "largest one is forty metres deep, and it",
    "freezes over in January.",
)
TITLES = {
    "larger": line("Lake Orwena", 60, 730, size=16),
    "bold": line("Lake Orwena", 60, 716, font="F2"),
    "the same letters": line("Lake Orwena", 60, 714),
    "the same letters, further away": line("Lake Orwena and its bays, in the last year but one", 60, 740),
}  # fmt: skip


@pytest.mark.parametrize("kind", TITLES)
def test_a_heading_is_apart_from_the_text_behind_it(kind: str) -> None:
    words = text(TITLES[kind] + lines(*SENTENCE))
    assert words.split("\n\n")[1:] == ["\n".join(SENTENCE)]
    match = locate("has three bays, of which the largest one is forty metres deep", words)
    assert match is not None
    assert match.quote.startswith("Lake Orwena has three bays")


def test_headings_of_several_lines_are_one_and_title_the_passages() -> None:
    document = read(
        line("A history of the lake of", 60, 760, size=16)
        + line("Orwena in the north", 60, 740, size=16)
        + lines(*SENTENCE)
    )
    assert [block.text for block in document.blocks if block.is_heading] == [
        "[Page 1]",
        "A history of the lake of Orwena in the north",
    ]


def test_small_print_and_lists_make_no_headings_of_the_text() -> None:
    small = "x = y + z  # small letters of code that is longer than all of its text"
    code = "".join(line(small, 60, 500 - 9 * n, size=7) for n in range(12))
    prose = [f"This line of prose is long enough to be one, and it is the {n}th one." for n in range(4, 8)]
    document = read(lines(*prose) + code)
    assert [block.text for block in document.blocks if block.is_heading] == ["[Page 1]"]
    assert text(lines("Sow:", "Broad beans", "Peas", "Early peas")) == "Sow:\nBroad beans\nPeas\nEarly peas"


def test_what_stands_at_the_top_and_the_foot_of_a_page_is_apart() -> None:
    content = (
        line("Annual report", 60, 760)
        + lines("the pier was built", "and the mole was", "renewed in a")
        + line("7", 60, 60)
    )
    assert text(content).split("\n\n") == [
        "Annual report",
        "the pier was built\nand the mole was\nrenewed in a",
        "7",
    ]


def test_the_head_of_a_page_is_part_of_no_column():
    left = (
        "The lake is fed by two rivers of",
        "the north, of which one is dry",
        "in summer. It is 40 m deep at",
        "the dam, where nobody swims.",
    )
    right = (
        "right hand words go on here with",
        "many others of the same column",
        "until it ends. The town lies on",
        "the shore, and has a harbour.",
    )
    page = beside(("Journal of Lakes",), ("Vol. 12, 345",), xs=(60, 320), y=750) + beside(
        left, right, xs=(60, 320)
    )
    blocks = [block.text for block in read_pdf(pdf_file(page), name="a").blocks]
    assert blocks[1] == "Journal of Lakes\nVol. 12, 345"
    assert blocks[2] == "\n".join(left)
    assert blocks[3] == "\n".join(right)
