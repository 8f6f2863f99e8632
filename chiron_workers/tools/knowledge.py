from dataclasses import replace
from typing import Annotated, TypedDict

from pydantic import Field

from chiron_workers.embed import looks_foreign
from chiron_workers.errors import ToolError
from chiron_workers.settings import settings
from chiron_workers.states import FactStatus
from chiron_workers.store import Store
from chiron_workers.store.checks import folded
from chiron_workers.store.facts import Claim, Stored, claim
from chiron_workers.toolkit import tool

Score = Annotated[float, Field(ge=0, le=1)]

SHOWN_CHARS = 80


class Receipt(TypedDict, total=False):
    """What became of a fact: `status` is stored, candidate or duplicate; `note` only where needed."""

    status: str
    subject_id: str
    topic_path: str
    fact_id: str
    note: str


@tool
async def store_knowledge(  # noqa: PLR0913  # a fact has that many sides
    store: Store,
    *,
    content: str,
    subject_id: str,
    source_url: str,
    source_score: Score,
    topic_path: str,
    confidence: Score,
    contradictions: list[str] | None = None,
    quote: str | None = None,
) -> Receipt:
    """Store one fact with the source it rests on, so that it can be found by its meaning.

    One assertion per call, in words that stand on their own. Within a run the source must have been read with
    web_fetch before. A fact stored again from the same source is not doubled: a higher confidence raises it.

    Args:
        content: The fact in one or a few sentences, at most 4,000 characters.
        subject_id: The subject it belongs to.
        source_url: The address it was read at.
        source_score: How far the source is to be trusted, 0 to 1.
        topic_path: Where it belongs within the subject, such as area/topic/detail.
        confidence: How sure the fact is, 0 to 1. Up to the threshold it is kept as a candidate, out of sight.
        contradictions: Ids of stored facts, or statements, that say otherwise.
        quote: The passage of the source it rests on, word for word.

    Returns:
        status (stored, candidate, or duplicate when the same fact from the same source was there),
        subject_id, topic_path, fact_id, and a note where there is more to know.
    """
    asked = claim(
        subject_id=store.subjects.writable(subject_id),
        content=content,
        source_url=source_url,
        source_score=source_score,
        topic_path=topic_path,
        confidence=confidence,
        contradictions=contradictions or (),
        quote=quote,
    )
    stored = await store.facts.add(await _grounded(store, asked))
    receipt = Receipt(
        status=_status(stored),
        subject_id=asked.subject_id,
        topic_path=stored.topic_path,
        fact_id=stored.fact_id,
    )
    if notes := _notes(store, asked, stored):
        receipt["note"] = " ".join(notes)
    return receipt


async def _grounded(store: Store, asked: Claim) -> Claim:
    source = await store.sources.latest(asked.source_url)
    if source is None:
        if store.caller.run_id is not None:
            raise ToolError(
                f"source_url: {asked.source_url} was never read; web_fetch that address first, then store "
                "what it says."
            )
        return asked
    if asked.quote and (problem := misquoted(asked.quote, source.text)):
        raise ToolError(
            f"quote: {problem} Copy the passage word for word from {asked.source_url}, or leave it out."
        )
    return replace(asked, snapshot_hash=source.hash)


def misquoted(quote: str, text: str) -> str:
    """Why a quote does not stand in a text, white space aside, in a sentence; empty if it does."""
    wanted, page = folded(quote), folded(text)
    if wanted in page:
        return ""
    # Whatever begins the quote and stands in the page has shorter beginnings that stand there too.
    agrees, differs = 0, len(wanted)
    while differs - agrees > 1:
        middle = (agrees + differs) // 2
        agrees, differs = (middle, differs) if wanted[:middle] in page else (agrees, middle)
    if not wanted[:agrees].strip():
        return "the page holds none of these words."
    at = page.index(wanted[:agrees]) + agrees
    shown = wanted[max(0, agrees - SHOWN_CHARS) : agrees]
    return (
        f"these words do not stand in the page. After {shown!r} the page goes on "
        f"{page[at : at + SHOWN_CHARS]!r}, the quote {wanted[agrees : agrees + SHOWN_CHARS]!r}."
    )


def _status(stored: Stored) -> str:
    if not stored.is_new:
        return "duplicate"
    return "stored" if stored.status is FactStatus.ACCEPTED else "candidate"


def _notes(store: Store, asked: Claim, stored: Stored) -> list[str]:
    threshold = settings().confidence_threshold
    notes = []
    if stored.was_lifted:
        notes.append(f"The candidate is accepted now, with confidence {asked.confidence:g}.")
    elif stored.status is FactStatus.CANDIDATE:
        notes.append(
            f"Kept as a candidate, out of sight, since its confidence is not above {threshold:g}. Store it "
            "again with a higher confidence when another source supports it."
        )
    elif stored.status is FactStatus.WITHDRAWN:
        notes.append("This fact was withdrawn and stays so.")
    if "minilm" in store.embedder.space.model.lower() and looks_foreign(asked.content):
        notes.append(
            "The default embedding model was trained on English; this fact may be hard to find. "
            "CHIRON_EMBEDDING_PROVIDER names another one."
        )
    return notes
