"""The beginning of an answer, as lists show it."""

import re
from functools import lru_cache
from itertools import islice

from chiron_api.text import one_line
from chiron_workers.evidence.citations import said_sentences, without_citations

ANSWER_CHARS = 4_000  # that are read for its first sentences
SENTENCES = 2
EXCERPT_CHARS = 420
_NO_PROSE = re.compile(r"^\s*(?:#{1,6}\s|\||```|[-*_=]{3,}\s*$|\*\*[^*]*\*\*:?\s*$)")
_EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)(.+?)(?<=\S)\1")
_LEFT_BY_CITATIONS = re.compile(r"\s*\((?:[\s,;]|and|see)*\)|\s*\[(?:[\s,;])*\]|\s+(?=[.,;:!?])")


@lru_cache(maxsize=512)
def first_sentences(answer: str) -> str:
    """The first two sentences of an answer in Markdown as text: without headings, tables, emphasis and citations.

    An introduction is passed over: they begin with the first sentence that cites, if one does.
    """
    prose = "\n".join(line for line in answer[:ANSWER_CHARS].splitlines() if not _NO_PROSE.match(line))
    sentences = [_EMPHASIS.sub(r"\2", sentence) for sentence in said_sentences(prose)]
    texts = [without_citations(sentence) for sentence in sentences]
    citing = (n for n, text in enumerate(texts) if text != sentences[n])
    lines = (_LEFT_BY_CITATIONS.sub("", " ".join(text.split())) for text in texts[next(citing, 0) :])
    words = islice((line for line in lines if any(map(str.isalpha, line))), SENTENCES)
    return one_line(" ".join(words), chars_max=EXCERPT_CHARS)
