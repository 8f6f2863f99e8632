from hypothesis import given, settings
from hypothesis import strategies as st

from chiron_workers.documents.document import PASSAGE_CHARS_MAX, Block, compose, split_into_passages

SENTENCE = "Mars has two moons, and both of them are small. "
blocks = st.lists(
    st.builds(Block, st.text(max_size=50).map(lambda text: text * 40), st.booleans()), max_size=6
)


def test_short_sections_share_a_passage_and_long_ones_have_their_own() -> None:
    document = compose(
        [
            Block("Mars", is_heading=True),
            Block("Short."),
            Block("Moons", is_heading=True),
            Block(SENTENCE * 10),
            Block("Poles", is_heading=True),
            Block("Ice."),
        ],
        title="",
    )
    assert [(passage.heading, len(passage.body)) for passage in split_into_passages(document)] == [
        ("Mars · Moons", 6 + 2 + len(SENTENCE) * 10 - 1),
        ("Poles", 4),
    ]


def test_a_long_paragraph_is_cut_after_sentences_and_every_part_keeps_its_heading() -> None:
    pieces = split_into_passages(compose([Block("Moons", is_heading=True), Block(SENTENCE * 100)], title=""))
    assert len(pieces) == 4
    assert {passage.heading for passage in pieces} == {"Moons"}
    assert all(passage.body.endswith("small.") for passage in pieces)


@settings(max_examples=40)
@given(blocks)
def test_no_word_is_lost_and_no_passage_is_too_long(given_blocks: list[Block]) -> None:
    document = compose(given_blocks, title="")
    pieces = split_into_passages(document)
    assert all(len(passage.body) <= PASSAGE_CHARS_MAX + 20 for passage in pieces)
    letters = "".join("".join(passage.body.split()) for passage in pieces)
    headings = "".join("".join(passage.heading.split()) for passage in pieces)
    for block in document.blocks:
        assert "".join(block.text.split()) in letters + headings
    document.text.encode()
