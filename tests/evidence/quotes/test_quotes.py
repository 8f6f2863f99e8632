import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chiron_workers.evidence.quotes.quotes import QUOTE_CHARS_MAX, locate, refusal_reason

PAGE = (
    "Trials\n\nThe drug was not effective in 12.5\u00a0% of cases. It lost −5 points; the infor-\nmation is “well-known” in "
    "well-\nknown places. The ﬁrst efﬁcient cafe\u0301 cost 1,500.75 USD — and more. 10² m² fell by 5% to -3."
)


def test_a_quote_is_extended_to_its_whole_sentence():
    standing = locate("effective in 12.5 % of", PAGE)
    assert standing is not None
    assert standing.quote == "The drug was not effective in 12.5\u00a0% of cases."
    assert PAGE[standing.start : standing.end] == standing.quote


@pytest.mark.parametrize(
    "quote",
    [
        "It lost -5 points; the information is",
        "points; the infor-\nmation is",
        'the information is "well-known" in well-known places.',
        "The first efficient café cost 1,500.75 USD—and more",
        "is &ldquo;well-known&rdquo; in well&#8211;known places",
        "the drug was not effective",
    ],
)
def test_what_typesetting_changes_does_not_matter(quote: str):
    assert locate(quote, PAGE) is not None


@pytest.mark.parametrize(
    "quote",
    [
        "The drug was effective in 12.5 % of cases.",
        "The drug was not effective in 12",
        "It lost 5 points; the information",
        "the information is wellknown in",
        "The first efficient cafe cost",
        "café cost 1,500",
        "102 m2 fell by 5% to -3.",
        "10² m² fell by 5",
        "10² m² fell by 5% to 3.",
        "The drug was not ... effective",
        "effective",
        "12.5 %",
    ],
)
def test_what_changes_the_meaning_is_refused(quote: str):
    assert locate(quote, PAGE) is None
    assert refusal_reason(quote, PAGE)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("inside 5 of them", "inside 15 of them. We looked inside 5.2 of them."),
        (
            "it grew by 5",
            "Then it grew by 5.3 million. Or it grew by 5,000. Or it grew by 5% and it grew by 5/6.",
        ),
        ("grew to 1,500", "It grew to 1,500,000 and it grew to 1,500.5"),
        (
            "500 of the beds",
            "There are 1,500 of the beds and .500 of the beds and −500 of the beds and $500 of the beds.",
        ),
        ("toxic to small birds", "It is non-toxic to small birds. It is non‑toxic to small birds."),
        ("we find that they can", "In fact we find that they can't, and we find that they can’t."),
        ("the dose is 5 mg", "In mice the dose is 5 mg/kg."),
        ("a surface of 10 m", "It has a surface of 10 m²."),
        ("it takes up to 5", "Today it takes up to 5½ hours."),
        ("5 degrees below", "It was -5 degrees below and —5 degrees below and –5 degrees below."),
        ("from 5 to 8 degrees", "The scale goes 1–5 to 8 degrees, from 15 to 8 degrees."),
        (
            "effective against flu",
            "It is in\u200beffective against flu. It is in\u00adeffective against flu.",
        ),
        ("reached .5 of them", "It reached 0.5 of them."),
        ("5 of them were lost", "So .5 of them were lost (.5 of them were lost)."),
        ("五十人参加会议活动", "共有一百五十人参加会议活动。"),
        ("共有一百五", "今天共有一百五十人参加会议活动。"),
        ("कि ताब अच्छी है", "यह किताब अच्छी है।"),
    ],
)
def test_a_quote_never_begins_or_ends_inside_a_word_or_number(quote: str, text: str):
    assert locate(quote, text) is None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("pressure is 1.01 x 10^5 Pa here", "The pressure is 1.01 x 10⁵ Pa here."),
        ("pressure is 1.01 x 10⁵ Pa here", "The pressure is 1.01 x 10^{5} Pa here."),
        ("a drop of 20% in CO2 was seen", "There a drop of 20 % in CO₂ was seen."),
        ("was significant (p<0.05) in men", "It was significant (p < 0.05) in men."),
        ("0.05 was reached in all men", "So p < 0.05 was reached in all men."),
        ("２０ people in all were ill", "Of these 20 people in all were ill."),
        ("药物在试验中是无效的", "新闻报道说，该药物在试\n验中是无效的。"),
        ("药物在试 验中是无效的", "新闻报道说，该药物在试\n验中是无效的。"),
        ("ยานี้ไม่มีผลในการทดลอง", "พบว่า ยานี้ไม่มี\nผลในการทดลอง"),
        ("was not effective in these mice", "It was not effective[12] in these[3,4] mice."),
        ("was not effective, in these mice", "It was not effective [12], in these mice."),
        ("was not effective in these mice", "A [1] b. C [2] d. It was not effective [12] in these mice."),
        ("was not effective[12] in these mice", "It was not effective[12] in these[3,4] mice."),
        ("was not effective. It failed", "It was not effective.¹² It failed."),
        ("It was not effective.", "It was not effective.¹² It failed."),
        ("¹² It failed in mice", "It was not effective.¹² It failed in mice."),
        ("was not effective in these mice", "It was not effective^(1,2) in these mice."),
        ("the information is not here", "All the infor-\nmation[3] is not here."),
    ],
)
def test_what_only_typesetting_changes_is_allowed(quote: str, text: str):
    assert locate(quote, text) is not None


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("pressure is 1.01 x 105 Pa here", "The pressure is 1.01 x 10⁵ Pa here."),
        ("pressure is 1.01 x 10 Pa here", "The pressure is 1.01 x 10⁵ Pa here."),
        ("pressure is 1.01 x 10^4 Pa here", "The pressure is 1.01 x 10⁵ Pa here."),
        ("pressure is 1.01 x 10⁵ Pa here", "The pressure is 1.01 x 10⁻⁵ Pa here."),
        ("The pressure is 1.01 x 10", "The pressure is 1.01 x 10⁵ Pa here."),
        ("The pressure is 1.01 x 10", "The pressure is 1.01 x 10^n Pa here."),
        ("an area of 10 m in all", "It has an area of 10 m² in all."),
        ("an area of 10 m2 in all", "It has an area of 10 m² in all."),
        ("an area of ten metres in all", "It has an area of ten metres² in all."),
        ("the number 102 in this system", "It is the number 10₂ in this system."),
        ("There a drop of 20", "There a drop of 20 % in CO₂ was seen."),
        ("was significant (p>0.05) in men", "It was significant (p < 0.05) in men."),
        ("was significant (p 0.05) in men", "It was significant (p < 0.05) in men."),
        ("in the index file_2 of all", "It is in the index file2 of all."),
        ("was not effective[13] in these mice", "It was not effective[12] in these[3,4] mice."),
        ("was not effective in these mice [13]", "It was not effective in these mice [12]."),
        ("was not effective[12] in these mice", "It was not effective in these mice."),
        ("was not effective in 12 mice", "It was not effective[12] in mice."),
        ("values lie in of these cases", "The values lie in [1, 5] of these cases."),
        ("he had children and a dog", "They say he had [5] children and a dog."),
        ("the value is 3 of the cases", "So the value is 3⁷ of the cases."),
        ("ตา กลมมากเหลือเกิน", "เขาตากลมมากเหลือเกิน"),
    ],
)
def test_what_looks_like_typesetting_and_changes_the_meaning_is_refused(quote: str, text: str):
    assert locate(quote, text) is None


@pytest.mark.parametrize(
    ("quote", "text", "sentence"),
    [
        ("药物在试验中无效", "新闻报道。该药物在试验中无效。完。", "该药物在试验中无效。"),
        ("約5キロメートル離れ", "そこは約5キロメートル離れている。次。", "そこは約5キロメートル離れている。"),
        ("5公里的公路通车", "今天，5公里的公路通车。", "今天，5公里的公路通车。"),
        ("किताब अच्छी है", "यह किताब अच्छी है। अंत।", "यह किताब अच्छी है।"),
        (
            "Größe und naïve Ideen",
            "So. Große Gro\u0308ße und naïve Ideen gab es. Ende.",
            "Große Gro\u0308ße und naïve Ideen gab es.",
        ),
        (
            "«Война и мир» вышла",
            "Да. Книга „Война и мир“ вышла в 1869 году.",
            "Книга „Война и мир“ вышла в 1869 году.",
        ),
    ],
)
def test_other_scripts_are_quoted_too(quote: str, text: str, sentence: str):
    standing = locate(quote, text)
    assert standing is not None
    assert standing.quote == sentence


def test_of_several_places_the_first_is_taken():
    text = "Rain fell on Monday. Rain fell on Monday, they said.\n\nRain fell on Monday."
    standing = locate("Rain fell on Monday", text)
    assert standing is not None
    assert (standing.start, standing.end) == (0, 20)


def test_a_quote_may_go_over_several_sentences_and_paragraphs():
    text = "One day it began. It was not long.\n\nThen it ended. So."
    standing = locate("was not long. Then it", text)
    assert standing is not None
    assert standing.quote == "It was not long.\n\nThen it ended."


def test_an_ellipsis_stands_only_where_the_page_has_one():
    text = "He said: we will see... and then left. The rest of it is history."
    assert locate("we will see … and then left", text) is None
    assert locate("we will see… and then left", text)
    assert "continuous passage" in refusal_reason("He said: we will ... is history", text)
    assert "continuous passage" in refusal_reason("He said: we will […] is history", text)


def test_entities_are_read_only_where_the_page_does_not_spell_them_out():
    assert locate("write &amp;lt; for a bracket", "You write &amp;lt; for a bracket.")
    assert locate("R&amp;D cost &pound;5 million", "Their R&D cost £5 million.")
    assert locate("R&amp;D cost &minus;5 million", "Their R&D cost 5 million.") is None


def test_a_passage_that_white_space_makes_endless_is_refused():
    assert locate("the beginning of the end", f"the beginning{' ' * 5_000}of the end") is None


@pytest.mark.parametrize(
    ("quote", "reason"),
    [
        ("", "too short"),
        ("effective", "too short"),
        ("12.5 %", "too short"),
        ("— … !", "too short"),
        ("word " * 1_000, "at most 4,000"),
    ],
)
def test_a_quote_that_can_prove_nothing_is_refused_with_the_reason(quote: str, reason: str):
    assert locate(quote, PAGE + quote) is None
    assert reason in refusal_reason(quote, PAGE + quote)


@pytest.mark.parametrize(
    ("quote", "differs"),
    [
        ("The drug was not effective in 15.2 % of cases.", "the page says '12.5%', the quote '15.2%'"),
        ("The drug was effective in 12.5 % of cases", "the page says 'not', which the quote leaves out"),
        ("The drug was not at all effective in 12.5 %", "the quote says 'at all', which the page does not"),
        ("was not effective in 12", "the page says '12.5%', the quote '12'"),
        ("It lost 5 points; the information", "the page says '-5', the quote '5'"),
        ("was not еffective in 12.5 %", "the quote 'еffective' (with CYRILLIC SMALL LETTER IE)"),
    ],
)
def test_a_refusal_shows_the_nearest_passage_and_what_differs(quote: str, differs: str):
    told = refusal_reason(quote, PAGE)
    assert differs in told
    assert "The drug was not effective in 12.5 % of cases." in told or "It lost −5 points" in told


def test_a_refusal_says_where_nothing_is_alike():
    assert "nothing there is like them" in refusal_reason("Penguins breed in colonies on the coast", PAGE)


def test_a_refusal_of_a_long_quote_shows_300_characters_around_the_difference():
    words = [f"word{number}" for number in range(300)]
    text = " ".join(words)
    told = refusal_reason(text.replace("word150", "word999"), f"Before. {text}. After.")
    assert "'word150', the quote 'word999'" in told
    assert "word149 word150 word151" in told
    assert len(told) < 500


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece",
    ["a", "a ", " ", "a\u200b", "e\u0301", "a-\n", "-\n", "漢，", "the drug was ", "drug-\neffective."],
)
def test_a_hostile_page_is_answered_in_good_time(piece: str):
    page = piece * (300_000 // len(piece))
    for quote in ("the drug was effective", "a " * 1_999 + "b", "the drug was " * 300 + "bad"):
        assert locate(quote, page) is None
        assert refusal_reason(quote, page)


LETTERS = st.text(st.sampled_from("bdfgkmqxz"), min_size=5, max_size=8)  # no abbreviation of any language
SENTENCE = st.lists(LETTERS, min_size=4, max_size=12).map(lambda words: " ".join(words).capitalize() + ".")
PARAGRAPHS = st.lists(st.lists(SENTENCE, min_size=1, max_size=5), min_size=1, max_size=5)


@given(PARAGRAPHS, st.data())
def test_whatever_lies_between_sentence_ends_stands_at_its_place(
    paragraphs: list[list[str]], data: st.DataObject
):
    text = "\n\n".join(" ".join(sentences) for sentences in paragraphs)
    starts = [found.start() for found in re.finditer(r"[A-Z]", text)]
    ends = [found.end() for found in re.finditer(r"\.", text)]
    start = data.draw(st.sampled_from(starts))
    end = data.draw(st.sampled_from([at for at in ends if at > start]))
    standing = locate(text[start:end], text)
    assert standing is not None
    assert standing.quote == text[standing.start : standing.end]
    first = re.search(r"\s+".join(map(re.escape, text[start:end].split())), text)
    assert first is not None
    assert (standing.start, standing.end) == first.span()


@settings(max_examples=50)
@given(st.text(max_size=60), st.text(st.characters(exclude_categories=["Cs"]), max_size=300))
def test_no_text_is_too_strange(quote: str, text: str):
    standing = locate(quote, text)
    assert standing is None or (
        standing.quote == text[standing.start : standing.end] and standing.end > standing.start
    )
    assert standing is not None or refusal_reason(quote, text).endswith(".")


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=30, max_size=300))
def test_a_whole_page_stands_in_itself(text: str):
    standing = locate(text, text)
    if standing is not None:
        assert len(standing.quote) <= QUOTE_CHARS_MAX
        assert len(standing.quote) >= len(text.strip()) // 2
