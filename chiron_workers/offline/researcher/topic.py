"""What a message asks about, without the words around it, and what to search for."""

import re
from functools import lru_cache

from chiron_workers.offline.researcher.words import keywords, words

_CHARS_MAX = 300
_LABEL_LINE = re.compile(
    r"^\W*(?:[\w'’]+ ){0,3}(?:topic|question|task|query|request)\b[\w ]{0,16}:\s*(\S.*)$", re.I | re.M
)
_LEADING_VERB = re.compile(
    r"^(?:please |now |also |can you |could you )*(?:research|investigate|find out|look into|study|explore|consider)"
    r"(?: (?:about|on|into|the topic|the question))*[: ]+",
    re.I,
)
_SUBJECT_ID = re.compile(r"\bsubject_id\b[\"'`]?\s*[:=]\s*[\"'`]?([\w./:-]*\w)")


def topic(message: str) -> str:
    """The topic of a message: what follows a label such as `Topic:`, else its last paragraph, on one line."""
    lines = _LABEL_LINE.findall(message)
    last_paragraph = message.strip().split("\n\n")[-1]
    text = " ".join((lines[-1] if lines else _LEADING_VERB.sub("", last_paragraph.strip())).split())
    return text[:_CHARS_MAX].strip() or "the topic"


def queries(text: str) -> list[str]:
    """What to search for: the topic as it was put, and only its telling words where that differs."""
    query = " ".join(dict.fromkeys(keywords(text)))
    return [text] if query in ("", " ".join(words(text))) else [text, query]


@lru_cache(maxsize=1_000)  # a conversation asks with the same system prompt each time
def subject_id(text: str, research_topic: str) -> str:
    """The id that a conversation gives last as `subject_id: ...`; made of the topic where it gives none."""
    ids = _SUBJECT_ID.findall(text)
    return ids[-1] if ids else "-".join(words(research_topic))[:80]
