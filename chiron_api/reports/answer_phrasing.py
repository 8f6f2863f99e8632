"""How the written answer and the answers of the runs are put, the same in every format. Plain text, as in `phrasing`."""

from chiron_api.reports import phrasing
from chiron_api.reports.answer import RunAnswer, SaidSentence, WrittenAnswer, WrittenSentence
from chiron_api.reports.phrasing import one_line
from chiron_api.text import count
from chiron_workers.states import Verdict

HEADING = "Answer"
NOT_KNOWN_HEADING = "What is not known"
RUNS_HEADING = "What the runs answered, in their own words"
RUNS_NOTE = (
    "What follows are the agents' own words. Nobody held them to anything: a number in brackets is a source whose address the "
    "sentence names, and the others are marked as not cited. What counts are the findings."
)
NOT_CITED = "(not cited)"
DISPUTE_MARK = "sources contradict each other"


def origin(answer: WrittenAnswer) -> str:
    """Who wrote the answer, from what, and when."""
    sentences = [sentence for section in answer.sections for sentence in section.sentences]
    unchecked_count = sum(sentence.verdict is Verdict.UNCHECKED for sentence in sentences)
    return (
        f"Written by {one_line(answer.model)} on {phrasing.minute(answer.written_at)} from the findings below alone. "
        f"Each sentence names those that it rests on. {_judgement(unchecked_count, len(sentences))}"
    )


def _judgement(unchecked_count: int, sentence_count: int) -> str:
    """Which sentences of the answer a model has judged by their findings, as one sentence."""
    if not unchecked_count:
        return "Each was kept only since a model that saw its findings and nothing else found that they support it."
    phrase = (
        "all sentences"
        if unchecked_count == sentence_count
        else f"{unchecked_count:,} of {count(sentence_count, 'sentence')}"
    )
    return f"No model was asked about {phrase}: they have their findings' words, meaning unchecked."


def text_of(sentence: WrittenSentence) -> str:
    """The sentence itself."""
    return one_line(sentence.text)


def marks(sentence: WrittenSentence) -> list[str]:
    """What a reader must know before relying on a sentence."""
    changes = list(dict.fromkeys(f"a fact of it is {fact.mark}" for fact in sentence.facts if fact.mark))
    return [DISPUTE_MARK] * sentence.is_disputed + [sentence.mark] * bool(sentence.mark) + changes


def numbers(sentence: WrittenSentence) -> list[int]:
    """The findings that a sentence rests on."""
    return [fact.number for fact in sentence.facts if fact.number is not None]


def citation_note(sentence: SaidSentence) -> str:
    """The note after a sentence that names no source of the report; empty where it names one."""
    if sentence.sources:
        return ""
    if not sentence.addresses:
        return NOT_CITED
    hosts = ", ".join(dict.fromkeys(_host(address) for address in sentence.addresses))
    return f"(cites {hosts}, with no fact of this report)"


def _host(address: str) -> str:
    return one_line(address.partition("://")[2].partition("/")[0]) or one_line(address)


def cut_note(answer: RunAnswer) -> str:
    """That an answer is cut, or nothing."""
    return (
        f"{count(answer.sentences_left_out, 'more sentence')} not shown." if answer.sentences_left_out else ""
    )
