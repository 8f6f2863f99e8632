"""What a message asks about, without the words around it, and what to search for."""

import re

from chiron_workers.offline.researcher.words import COMMON_WORDS, slug, words

_CHARS_MAX = 300
_LABELLED = re.compile(
    r"^\W*(?:[\w'’]+ ){0,3}(?:topic|question|task|query|request)\b[\w ]{0,16}:\s*(\S.*)$", re.I | re.M
)
_LEAD = re.compile(
    r"^(?:please |now |also |can you |could you )*(?:research|investigate|find out|look into|study|explore|consider)"
    r"(?: (?:about|on|into|the topic|the question))*[: ]+",
    re.I,
)
_SUBJECT_ID = re.compile(r"\bsubject_id\b[\"'`]?\s*[:=]\s*[\"'`]?([\w./:-]*\w)")


def topic(message: str) -> str:
    """The topic of a message: what follows a label such as `Topic:`, else its last paragraph, on one line."""
    labelled = _LABELLED.findall(message)
    last_paragraph = message.strip().split("\n\n")[-1]
    line = " ".join((labelled[-1] if labelled else _LEAD.sub("", last_paragraph.strip())).split())
    return line[:_CHARS_MAX].strip() or "the topic"


def queries(asked: str) -> list[str]:
    """What to search for: the topic as it was put, and only its telling words where that differs."""
    telling = [word for word in words(asked) if word not in COMMON_WORDS]
    short = " ".join(dict.fromkeys(telling))
    return [asked] if not short or short == " ".join(words(asked)) else [asked, short]


def broader(asked: str) -> str:
    """A query for when nothing was found: the longest telling word alone."""
    return max((word for word in words(asked) if word not in COMMON_WORDS), key=len, default=asked)


def subject_id(text: str, asked: str) -> str:
    """The id that a conversation gives last as `subject_id: ...`; made of the topic where it gives none."""
    ids = _SUBJECT_ID.findall(text)
    return ids[-1] if ids else slug(asked)
