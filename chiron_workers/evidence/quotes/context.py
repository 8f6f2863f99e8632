"""What stands around a quote and may change what it says: its heading, its lead-in, and a short word of denial behind it."""

import re

from chiron_workers.evidence.quotes.sentences import BLANK_LINE, sentence_breaks

BEFORE_CHARS = 2_000  # looked through before a quote
AFTER_CHARS = 200
BLOCKS_MAX = 12  # looked through: a list's head stands above all of its items
HEADING_CHARS_MAX = 120
ITEM_CHARS_MAX = 200
SENTENCE_CHARS_MAX = 300  # that a lead-in keeps
DENIAL_CHARS_MAX = 60  # of a sentence behind a quote that takes it back
SEPARATOR = " … "
STOPS = tuple(".!?…。！？।")
LEADS = (":", "：")
TURNS = re.compile(
    r"\b(?:false|wrong|incorrect|untrue|not (?:true|correct|so)|nonsense|myths?|misconceptions?|fallac(?:y|ies)|debunked"
    r"|falsch|unwahr|irrtum|irrtümer|mythos|mythen|faux|fausses?|erroné\w*|mythes?|idées reçues|fals[oa]s?|incorrect[oa]s?"
    r"|mitos?|erróne[oa]s?)\b|неверн|ложн|неправд|миф|错误|謬|谬|误解|誤解|不实|嘘|間違",
    re.IGNORECASE,
)


def context_of(text: str, start: int, end: int) -> str:
    """The heading and the lead-in of `text[start:end]`, a passage in whole sentences; empty where it has none.

    The lead-in is the sentence before it in its paragraph; or, for the first sentence of one, the head of its list or a
    line that says that what follows is wrong. A short sentence behind it that takes it back ("Wrong!") is added. Pieces
    are joined by an ellipsis, in the order of the text.
    """
    paragraphs = BLANK_LINE.split(text[max(0, start - BEFORE_CHARS) : start])
    lead_in = _last_sentence(paragraphs.pop())
    pieces = [lead_in] if lead_in else _above(paragraphs)
    return SEPARATOR.join(filter(None, [*pieces, _denial_behind(text[end : end + AFTER_CHARS])]))


def may_turn(context: str) -> bool:
    """Whether a context has words by which a source may report a statement as wrong."""
    return bool(TURNS.search(context))


def _last_sentence(text: str) -> str:
    words = text.strip()
    if not words:
        return ""
    at = max((place for place in sentence_breaks(words) if place < len(words)), default=0)
    return _one_line(words[at:])[-SENTENCE_CHARS_MAX:]


def _above(paragraphs: list[str]) -> list[str]:
    """The heading right above a paragraph, and the head of the list that it is an item of."""
    heading = ""
    for distance, paragraph in enumerate(reversed(paragraphs[-BLOCKS_MAX:])):
        line = _one_line(paragraph)
        if not line:
            continue
        if line.endswith(LEADS) or (len(line) <= SENTENCE_CHARS_MAX and may_turn(line)):
            return [line[-SENTENCE_CHARS_MAX:], heading]
        if distance == 0 and len(line) <= HEADING_CHARS_MAX and not line.endswith(STOPS):
            heading = line
        elif len(line) > ITEM_CHARS_MAX:
            break
    return [heading]


def _denial_behind(text: str) -> str:
    words = text.strip()
    first = next((place for place in sentence_breaks(words) if place > 0), 0) if words else 0
    sentence = _one_line(words[:first])
    return sentence if len(sentence) <= DENIAL_CHARS_MAX and may_turn(sentence) else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())
