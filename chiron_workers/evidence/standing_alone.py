"""Whether a sentence can be understood without its neighbours, as far as its first words tell: "It does not." cannot."""

import re

# "It takes light 8 minutes to reach the Earth", "It is known that", "It rains": the word refers to nothing.
_EMPTY_SUBJECT = re.compile(
    r"it (?:takes?|took|rains|snows|seems|appears|follows|turns? out|turned out)\b"
    r"|it (?:is|was|has been|will be|costs?|needs?|may be|can be)\b[^.;]*?\b(?:that|to|who|whether)\b",
    re.IGNORECASE,
)
_VERB = r"(?:is|are|was|were|has|have|had|does|do|did|will|would|can|could|may|might|must|should)"
_REFERENCE = re.compile(
    r"(?:it|its|they|them|their|theirs|he|she|him|his|her|hers|this|these(?! days)|those"
    r"|such(?! as)|the (?:former|latter|same|above|following|other)|yes|no(?=,)|so do|so does|nor|thus|therefore|hence|otherwise"
    rf"|that(?= {_VERB})|both(?= {_VERB})|neither(?= {_VERB})|one(?= {_VERB})|some(?= {_VERB})|others?(?= {_VERB}))\b",
    re.IGNORECASE,
)
_MARKS = re.compile(r"^[\W_]+")


def open_reference(sentence: str) -> str:
    """The word with which a sentence refers to something outside of it; empty where there is none.

    It reads English and looks at the beginning alone, so it only doubts; a reader who understands the sentence decides.
    """
    words = _MARKS.sub("", " ".join(sentence.split()))
    if _EMPTY_SUBJECT.match(words):
        return ""
    match = _REFERENCE.match(words)
    return match[0] if match else ""
