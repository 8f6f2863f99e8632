from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, TypedDict

from pydantic import Field

from chiron_workers.embeddings import languages_of, looks_foreign
from chiron_workers.errors import ToolError
from chiron_workers.evidence.quotes.context import context_of
from chiron_workers.evidence.quotes.quotes import locate, refusal_reason
from chiron_workers.evidence.quotes.reading_window import reading_window
from chiron_workers.evidence.source_kinds import BANDS
from chiron_workers.evidence.statements.support import UNCHECKED, judge_by_rules
from chiron_workers.evidence.statements.unsupported import find_unsupported
from chiron_workers.knowledge.facts.additions import StoredFact
from chiron_workers.knowledge.facts.claims import Claim, Place, claim
from chiron_workers.knowledge.facts.offload import offload_if_long
from chiron_workers.knowledge.facts.source_views import SourceView
from chiron_workers.knowledge.facts.verdicts import Evidence
from chiron_workers.settings import settings
from chiron_workers.sources.sources import Snapshot
from chiron_workers.states import SHOWN_STATUSES, Decider, FactStatus, Verdict
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

Score = Annotated[float, Field(ge=0, le=1)]
# Two milliseconds at first, a tenth of one while the page is kept in one spelling.
INLINE_PAGE_CHARS_MAX = 20_000
SCORES_DIFFER = 0.005  # two decimals are told
SAYS_LESS = "Its quote supports it in part"
REFUSALS = {Verdict.CONTRADICTED: "contradicts it", Verdict.SILENT: "does not speak of it"}

UNASKED = (
    "No model has judged whether its quote supports it; one is asked by a check of its subject: the tool check_subject, or "
    "POST /v1/subjects/{subject_id}/check."
)


class Related(TypedDict):
    """A known fact that a new one supports, contradicts or qualifies, and by what that was seen."""

    fact_id: str
    relation: str
    content: str
    reason: str


class Receipt(TypedDict, total=False):
    """What became of a fact; what follows `verdict` only where there is something to tell.

    `status` is stored, candidate (kept out of sight), joined (a known fact got this source) or duplicate; `verdict` says
    whether the quote supports the fact, and `verdict_by` who found that: the name of a model, or `rules`, which only doubt.
    """

    status: str
    subject_id: str
    topic_path: str
    fact_id: str
    confidence: float
    verdict: str
    verdict_by: str
    valid_from: str
    valid_until: str
    quote: str
    context: str
    related: list[Related]
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
    """Store one fact with the words it rests on, so that it can be found by its meaning and checked by anybody.

    One assertion per call, in words that stand on their own. Within a run the source must have been read before, with
    web_fetch or file_reader, and the quote must stand in it word for word. A fact that says the same as a known one
    is joined to it as a further source; one that contradicts a known one is linked to it, and both stay. How sure a
    fact is, is computed from the independent sources for and against it. Without a quote that was found in a source
    which was read, a fact stays a candidate, out of sight: vector_search shows it with candidates set to true. So does
    one that says more than its quote, until you store it in words that the quote supports; one that its quote
    contradicts or does not speak of is refused.

    Args:
        content: The fact in one or a few sentences, at most 4,000 characters.
        subject_id: The subject it belongs to.
        source_url: The address it was read at.
        source_score: How far the source is to be trusted, 0 to 1. It counts within the band of the kind of source that
            its address tells: academic 0.9-1.0, official 0.8-0.9, expert 0.6-0.8, general 0.4-0.6, user-generated
            0.2-0.4; of an unknown source at most 0.6; of documents and files of the user's as it is.
        topic_path: Where it belongs within the subject, such as area/topic/detail.
        confidence: How sure you are of it, 0 to 1. It is kept beside the computed one.
        contradictions: Ids of stored facts, or statements, that say otherwise.
        quote: The passage of the source it rests on, word for word and in one piece. Runs need one; without it the
            fact stays out of sight.

    Returns:
        status (stored; candidate: kept out of sight until better sources support it; joined: a known fact got this
        source; duplicate: that source was known), subject_id, topic_path, fact_id, the computed confidence, verdict
        (supported, partly, or unchecked where no model has judged it), verdict_by (the name of the model that judged it,
        or rules, which only doubt), valid_from and
        valid_until (where its words say from when until when it is so: a year, month or day), quote (as it stands in the
        source, in whole sentences), context (the heading and the lead-in of the quote there), related (known facts it
        supports, contradicts or qualifies), and a note where there is more to know.
    """
    new_claim = claim(
        subject_id=store.subjects.require_writable(subject_id),
        content=content,
        source_url=source_url,
        source_score=source_score,
        topic_path=topic_path,
        confidence=confidence,
        contradictions=contradictions or (),
        quote=quote,
    )
    quoted_claim = await _judge(store, await _locate_quote(store, new_claim))
    stored_fact = await store.facts.add(quoted_claim)
    receipt = Receipt(
        status=_status(stored_fact),
        subject_id=new_claim.subject_id,
        topic_path=stored_fact.topic_path,
        fact_id=stored_fact.fact_id,
        confidence=round(stored_fact.confidence, 4),
        verdict=quoted_claim.finding.verdict,
    )
    if judge := quoted_claim.finding.judge:
        receipt["verdict_by"] = judge
    if valid_from := new_claim.validity.valid_from:
        receipt["valid_from"] = valid_from
    if valid_until := new_claim.validity.valid_until:
        receipt["valid_until"] = valid_until
    if quoted_claim.place and quoted_claim.quote:
        receipt["quote"] = quoted_claim.quote
    if quoted_claim.context:
        receipt["context"] = quoted_claim.context
    if stored_fact.matches:
        receipt["related"] = [
            Related(fact_id=fact.fact_id, relation=fact.relation, content=fact.content, reason=fact.reason)
            for fact in stored_fact.matches
        ]
    if notes := [*await _verdict_notes(quoted_claim), *_notes(store, quoted_claim, stored_fact)]:
        receipt["note"] = " ".join(notes)
    return receipt


async def _locate_quote(store: Store, new_claim: Claim) -> Claim:
    """Add the place of its quote to a claim. Raises ToolError if the source or the quote is not found."""
    is_run = store.caller.run_id is not None
    texts = await store.sources.versions(new_claim.source_url)
    if not texts:
        if is_run:
            raise ToolError(
                f"source_url: {new_claim.source_url} was never read by this run; web_fetch that address first, then "
                "store what it says."
            )
        return new_claim
    if new_claim.quote is None:
        if is_run and settings().require_quotes:
            raise ToolError(
                "quote: is missing. Give the passage of the source that the fact rests on, word for word; what no "
                "source says in its own words is no fact to store."
            )
        return replace(
            new_claim,
            source_url=texts[0].url,
            snapshot_hash=texts[0].hash,
            observed_at=texts[0].fetched_at,
            stated_kind=texts[0].stated_kind,
        )
    quote, pages = new_claim.quote, [version.text for version in texts]
    place = partial(_place_quote, new_claim, quote, texts)
    if quoted_claim := await offload_if_long(place, *pages, chars_max=INLINE_PAGE_CHARS_MAX):
        return quoted_claim
    reason = await offload_if_long(partial(refusal_reason, quote, pages[0]), quote, pages[0])
    raise ToolError(f"quote: {reason}")


def _place_quote(new_claim: Claim, quote: str, versions: Sequence[Snapshot]) -> Claim | None:
    """The claim with its quote as it stands in the first of the texts that holds it, and what stands around it there."""
    for version in versions:
        match = locate(quote, version.text)
        if match is not None:
            window = reading_window(version.text, match.start, match.end)
            return replace(
                new_claim,
                source_url=version.url,
                quote=match.quote,
                place=Place(version.hash, match.start, match.end),
                context=context_of(version.text, match.start, match.end),
                view=SourceView.of(version, window),
                observed_at=version.fetched_at,
                stated_kind=version.stated_kind,
            )
    return None


async def _judge(store: Store, quoted_claim: Claim) -> Claim:
    """Add the verdict on its quote to a claim. Raises ToolError if the quote says otherwise or nothing of it."""
    if quoted_claim.quote is None:
        return quoted_claim
    evidence = Evidence(
        quoted_claim.content,
        quoted_claim.quote,
        quoted_claim.context,
        quoted_claim.source_url,
        view=quoted_claim.view,
    )
    if quoted_claim.place is not None:
        finding = await store.verdicts.judge(evidence)
    else:  # an unverified quote is not worth a question, but the rules see what it cannot support
        judge = partial(judge_by_rules, evidence.statement, evidence.quote)
        rules_finding = await offload_if_long(judge, evidence.statement, evidence.quote)
        finding = rules_finding or UNCHECKED
    if finding.verdict.is_refusal:
        raise ToolError(
            f"content: its quote {REFUSALS[finding.verdict]}. {finding.reason} Store what the quote says, or give the "
            "passage that says so."
        )
    return replace(quoted_claim, finding=finding)


async def _verdict_notes(quoted_claim: Claim) -> list[str]:
    finding = quoted_claim.finding
    if finding.verdict is Verdict.PARTLY:
        doubt = "A comparison of words puts it in doubt" if finding.judge == Decider.RULES else SAYS_LESS
        return [
            f"{doubt}: {finding.reason} It stays out of sight; store it in words that the quote "
            "supports, or with the passage that says all of it."
        ]
    if finding.verdict is not Verdict.UNCHECKED or quoted_claim.place is None:
        return []
    quote = quoted_claim.quote or ""
    return await offload_if_long(
        partial(find_unsupported, quoted_claim.content, quote), quoted_claim.content, quote
    )


def _is_check_open(store: Store, quoted_claim: Claim) -> bool:
    """Whether a model can still be asked about a claim from outside of a run."""
    is_unjudged = quoted_claim.finding.judge in ("", Decider.RULES)
    return store.caller.run_id is None and quoted_claim.place is not None and is_unjudged


def _status(stored_fact: StoredFact) -> str:
    if stored_fact.is_joined:
        return "joined"
    if not stored_fact.is_new:
        return "duplicate"
    return "stored" if stored_fact.status in SHOWN_STATUSES else "candidate"


def _notes(store: Store, new_claim: Claim, stored_fact: StoredFact) -> Iterator[str]:
    threshold = settings().confidence_threshold
    if _is_check_open(store, new_claim) and (stored_fact.is_new or stored_fact.is_joined):
        yield UNASKED.format(subject_id=new_claim.subject_id)
    if new_claim.place is None:
        reason = "has no quote" if new_claim.quote is None else "rests on a source that was never read here"
        yield f"It {reason}, so it is unverified, and its confidence at most {settings().unverified_confidence_max:g}."
    if abs(new_claim.source_score - new_claim.claimed_score) > SCORES_DIFFER:
        low, high = BANDS[new_claim.source_kind]
        yield (
            f"Its source is {new_claim.source_kind.words}, whose score is {low:g} to {high:g}; so it counts with "
            f"{new_claim.source_score:.2f} instead of {new_claim.claimed_score:.2f}."
        )
    if stored_fact.is_lifted:
        yield f"The candidate is accepted now, with confidence {stored_fact.confidence:.2f}."
    elif stored_fact.status is FactStatus.DISPUTED:
        yield (
            "It is disputed, and shown with what contradicts it, since that weighs too much against its sources; its confidence "
            f"is {stored_fact.confidence:.2f}."
        )
    elif stored_fact.status is FactStatus.CANDIDATE:
        yield (
            f"Kept as a candidate, out of sight, since what stands for it is not above {threshold:g}. A quote from another, "
            "independent source adds to it."
        )
    for fact_id in stored_fact.superseded_ids:
        yield f"It takes the place of fact {fact_id}, whose words its source no longer has."
    if stored_fact.status is FactStatus.WITHDRAWN:
        yield "This fact was withdrawn and stays so."
    if languages_of(store.embedder.space) is not None and looks_foreign(new_claim.content):
        yield (
            "The default embedding model was trained on English; this fact may be hard to find. "
            "CHIRON_EMBEDDING_PROVIDER names another one."
        )
