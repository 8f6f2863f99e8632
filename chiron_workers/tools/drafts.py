import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from chiron_workers.errors import ToolError
from chiron_workers.knowledge.drafts.citable_facts import CitableFact
from chiron_workers.knowledge.drafts.reading import Sentence
from chiron_workers.knowledge.drafts.sections import SECTIONS_MAX, SENTENCES_MAX
from chiron_workers.knowledge.drafts.sentence_rules import (
    FACTS_MAX,
    SENTENCE_CHARS_MAX,
    TITLE_CHARS_MAX,
)
from chiron_workers.runs.entries import Limit
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

PAGE_FACTS = 40
QUOTES_MAX = 3  # shown of a fact
QUOTE_CHARS_MAX = 600
PAGE_SHARE = 0.8  # of what is shown of a result, so that a page of long facts is not cut in the middle
TIMEOUT_S = 180.0  # the model may be asked about each sentence


class CitedSentence(BaseModel):
    """One sentence with the ids of the facts it rests on."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=SENTENCE_CHARS_MAX)]
    facts: Annotated[list[str], Field(max_length=FACTS_MAX)]


class ListedFact(TypedDict, total=False):
    """A fact that a draft may rest on. The last three only where there is something to tell.

    `contradicted_by` are the ids of facts that say otherwise; the fact is so from `valid_from` to `valid_until`.
    """

    fact_id: str
    statement: str
    topic_path: str
    status: str
    confidence: float
    quotes: list[str]
    sources: list[str]
    contradicted_by: list[str]
    valid_from: str
    valid_until: str


class FactList(TypedDict):
    """A page of facts; `next_offset` is None on the last one."""

    facts: list[ListedFact]
    total: int
    next_offset: int | None


class WrittenSection(TypedDict):
    """What a draft has now."""

    place: int
    sentences: int
    sentences_in_all: int


class HandedInDraft(TypedDict):
    """What was handed in."""

    sections: list[str]
    sentences: int


@tool(needs_run=True, roles=("writer", "lesson"))
async def list_facts(store: Store, *, offset: Annotated[int, Field(ge=0, le=1_000_000)] = 0) -> FactList:
    """List the facts that you write from, the surest first. Nothing else may be told.

    Args:
        offset: How many to pass over: next_offset of the page before.

    Returns:
        facts: each with fact_id, statement, topic_path, status (accepted or disputed), confidence, quotes (the words of its
        sources), sources, contradicted_by (the ids of facts that say otherwise), valid_from and valid_until (where the
        fact is so for a time only); total; and next_offset, None on the last page.
    """
    facts = store.drafts.facts
    page = _fitting(await facts.page(offset=offset, limit=PAGE_FACTS), store.caller.shown)
    opponents = await facts.by_id(fact_id for fact in page for fact_id in fact.opponents)
    page_ids = {fact.fact_id for fact in page}
    strangers = [fact for fact in opponents.values() if fact.fact_id not in page_ids and not fact.is_in_scope]
    total = await facts.count()
    end = offset + len(page)
    return FactList(
        facts=[_listed(fact) for fact in [*page, *strangers]],
        total=total,
        next_offset=end if page and end < total else None,
    )


@tool(needs_run=True, roles=("writer",), timeout_s=TIMEOUT_S)
async def write_section(
    store: Store,
    *,
    place: Annotated[int, Field(ge=0, lt=SECTIONS_MAX)],
    sentences: Annotated[list[CitedSentence], Field(max_length=SENTENCES_MAX)],
    title: Annotated[str, Field(max_length=TITLE_CHARS_MAX)] = "",
) -> WrittenSection:
    """Write a section of the report, sentence by sentence, each with the facts it rests on.

    Each sentence is held to its facts: what they do not bear out in full is refused with the reason, and so are facts that say
    nothing of their sentence and a title that claims something; then nothing of the section is kept. Write it again with that
    sentence in other words, with other facts, or without it. There are no sentences without facts: no transitions, no opinions,
    nothing that you know yourself.

    Args:
        place: 0 for the summary, which comes first; 1, 2, 3 ... for the sections after it. The section that stands there is
            replaced.
        sentences: Each with its text, one sentence long, and the ids of its facts. A fact that is contradicted by another is
            told together with it, in one sentence that names both and says that they contradict each other. Without
            sentences the section is removed.
        title: What the section is about, in a few words; the summary needs none.

    Returns:
        place, and how many sentences the section and the whole draft have.
    """
    if place and sentences and not title.strip():
        raise ToolError("title: is missing; say in a few words what the section is about.")
    cited_sentences = [Sentence(sentence.text, tuple(sentence.facts)) for sentence in sentences]
    total = await store.drafts.write(place, title, cited_sentences)
    return WrittenSection(place=place, sentences=len(sentences), sentences_in_all=total)


@tool(needs_run=True, roles=("writer",))
async def hand_in_report(store: Store) -> HandedInDraft:
    """Hand in the report as its sections stand. It needs a summary and at least one more section.

    What is not known (topics without facts, research that failed, contradictions that nothing settles) is added to it
    by the program and is not yours to write.

    Returns:
        The titles of its sections in their order, and how many sentences it has.
    """
    draft = await store.drafts.hand_in()
    return HandedInDraft(
        sections=[section.title for section in draft.sections],
        sentences=sum(len(section.sentences) for section in draft.sections),
    )


def _fitting(page: Sequence[CitableFact], limit: Limit | None) -> Sequence[CitableFact]:
    """As many facts from the first on as can be shown at once; one at least."""
    if limit is None:
        return page
    room = PAGE_SHARE * min(limit.chars, limit.bytes)
    sizes = accumulate(len(json.dumps(_listed(fact))) for fact in page)
    return [fact for fact, size in zip(page, sizes, strict=True) if size <= room] or page[:1]


def _listed(fact: CitableFact) -> ListedFact:
    entry = ListedFact(
        fact_id=fact.fact_id,
        statement=fact.content,
        topic_path=fact.topic_path,
        status=fact.status,
        confidence=round(fact.confidence, 2),
        quotes=[
            passage.quote[:QUOTE_CHARS_MAX]
            for passage in fact.passages[:QUOTES_MAX]
            if passage.quote != fact.content
        ],
        sources=list(dict.fromkeys(passage.source_url for passage in fact.passages)),
    )
    if fact.opponents:
        entry["contradicted_by"] = list(fact.opponents)
    if fact.valid_from:
        entry["valid_from"] = fact.valid_from
    if fact.valid_until:
        entry["valid_until"] = fact.valid_until
    return entry
