import random

from hypothesis import given
from hypothesis import strategies as st

from chiron_workers.evidence.quotes import windows as windows_module
from chiron_workers.evidence.quotes.quotes import QUOTE_CHARS_MAX, locate, refusal_reason
from chiron_workers.evidence.quotes.windows import EDGE_CHARS, WINDOW_CHARS, windows

STEP = WINDOW_CHARS - QUOTE_CHARS_MAX - 2 * EDGE_CHARS
QUOTE = "The tide rises and falls twice a day in most places."


@given(st.integers(0, 3 * WINDOW_CHARS), st.integers(1, QUOTE_CHARS_MAX), st.integers(0, 3 * WINDOW_CHARS))
def test_each_passage_stands_whole_in_one_piece_of_a_text(start: int, length: int, size: int):
    text = "x" * max(size, start + length)
    pieces = list(windows(text, passage_chars_max=QUOTE_CHARS_MAX))
    assert all(text[piece.start : piece.start + len(piece.text)] == piece.text for piece in pieces)
    assert any(piece.holds(start - piece.start, start + length - piece.start) for piece in pieces)


def test_a_quote_is_located_in_a_long_text_wherever_it_stands():
    dice = random.Random(12)
    filler = "".join(f"Sentence {n} says nothing of it. " for n in range(12_000))
    edges = [edge + shift for edge in (STEP, WINDOW_CHARS, 2 * STEP) for shift in (-EDGE_CHARS, -30, 0, 30)]
    for at in [0, len(filler), *edges, *(dice.randrange(len(filler)) for _ in range(20))]:
        text = f"{filler[:at]}\n\n{QUOTE}\n\n{filler[at:]}"
        match = locate(QUOTE.replace("twice", "twi\xadce"), text)
        assert match is not None
        assert (match.quote, match.start) == (QUOTE, at + 2)


def test_the_first_of_several_places_is_taken():
    text = f"{'x ' * WINDOW_CHARS}\n\n{QUOTE}\n\n{'y ' * WINDOW_CHARS}\n\n{QUOTE}"
    match = locate(QUOTE, text)
    assert match is not None
    assert match.start == 2 * WINDOW_CHARS + 2


def test_the_nearest_passage_of_a_long_text_is_shown():
    text = f"{'Nothing is here. ' * 20_000}\n\n{QUOTE}\n\n{'Nor is it here. ' * 20_000}"
    assert "the page says 'most', the quote 'all'" in refusal_reason(QUOTE.replace("most", "all"), text)


def test_a_text_of_one_piece_is_not_cut():
    text = "x" * windows_module.WINDOW_CHARS
    [piece] = windows(text, passage_chars_max=QUOTE_CHARS_MAX)
    assert (piece.text, piece.holds(0, len(text))) == (text, True)
