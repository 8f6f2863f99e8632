import pytest

from chiron_workers.evidence.quotes.sentences import whole_sentences

LIMIT = 4_000


def around(passage: str, text: str, chars_max: int = LIMIT) -> str:
    start = text.index(passage)
    begin, end = whole_sentences(text, start, start + len(passage), chars_max=chars_max)
    return text[begin:end]


@pytest.mark.parametrize(
    ("passage", "text", "sentence"),
    [
        (
            "effective",
            "So far. The drug, e.g. that of Dr. Smith et al. (see Fig. 3), was not effective in the U.S. at 3.5 mg. Next.",
            "The drug, e.g. that of Dr. Smith et al. (see Fig. 3), was not effective in the U.S. at 3.5 mg.",
        ),
        ("Tolkien", "Well. By J. R. R. Tolkien it was. Yes.", "By J. R. R. Tolkien it was."),
        ("left", 'Well. He said "No. Never." and left. Then.', 'He said "No. Never." and left.'),
        ("effective", 'It was "not effective." He left.', 'It was "not effective."'),
        ("Mai", "Das ist gut. Am 3. Mai kam er z. B. nicht. Ende.", "Am 3. Mai kam er z. B. nicht."),
        ("明日", "今日は雨。明日は晴れ！本当？", "明日は晴れ！"),
        ("मौसम", "यह अच्छा है। मौसम ठीक है। अंत।", "मौसम ठीक है।"),
        ("body", "A heading\n\nThe body of it\nis here. More.", "The body of it\nis here."),
        ("two", "A list:\n\n- item one\n- item two\n- item three. More.", "- item two"),
        ("two", "A list:\n• item one\n• item two\n• item three.", "• item two"),
        ("two three", "One two. Three two three. Four.", "Three two three."),
        ("one. Item", "Well. Yes one. Item two. So.", "Yes one. Item two."),
    ],
)
def test_a_passage_grows_to_whole_sentences(passage: str, text: str, sentence: str):
    assert around(passage, text) == sentence


def test_what_has_no_stops_grows_by_a_few_lines_only():
    table = "\n".join(f"Moon {number} of Saturn | {number * 7} km" for number in range(500))
    grown = around("Moon 250 of", table)
    assert "Moon 250 of Saturn | 1750 km" in grown
    assert grown.startswith("Moon 24") and grown.endswith(" km")
    assert len(grown) < 700


@pytest.mark.parametrize("text", ["word " * 2_000, "wort" * 2_000, "字" * 8_000])
def test_what_has_no_stops_or_lines_grows_by_a_few_words_only(text: str):
    begin, end = whole_sentences(text, 4_000, 4_004, chars_max=LIMIT)
    assert begin <= 4_000
    assert end >= 4_004
    assert end - begin < 700


def test_a_long_sentence_is_taken_whole_as_far_as_the_limit_goes():
    sentence = "It was not, " + "as they said again, " * 40 + "effective at all."
    text = f"Before. {sentence} After."
    assert around("effective", text) == sentence
    assert len(around("effective", text, chars_max=100)) <= 100
