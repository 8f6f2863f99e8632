"""Claims as rows."""

from typing import Any

from psycopg.types.json import Json

from chiron_workers.evidence.origins import Assertion
from chiron_workers.knowledge.facts.claims import Claim
from chiron_workers.knowledge.facts.confidences import compute_confidence, status_of
from chiron_workers.knowledge.search.word_index import text_args
from chiron_workers.runs.session import Caller


def fact_columns(claim: Claim, fact_id: str, caller: Caller) -> dict[str, Any]:
    """The columns of the fact that a claim becomes, with the confidence that its own source gives it."""
    assertion = Assertion(claim.source_url, claim.source_score, claim.counts_in_full, kind=claim.source_kind)
    confidence = compute_confidence([assertion], [])
    return {
        "id": fact_id,
        "subject_id": claim.subject_id,
        "topic_path": claim.topic_path,
        "confidence": confidence.value,
        "status": status_of(confidence),
        "contradictions": Json(claim.contradictions),
        "run_id": caller.run_id,
        "call_id": caller.call_id,
        **assertion_columns(claim),
        **text_args(claim.content),
    }


def assertion_columns(claim: Claim) -> dict[str, Any]:
    """The columns of what its source asserts: of the fact itself, or of a further source of a known one."""
    return {
        "content": claim.content,
        "quote": claim.quote,
        "quote_state": claim.quote_state,
        "quote_start": claim.place.start if claim.place else None,
        "quote_end": claim.place.end if claim.place else None,
        "source_url": claim.source_url,
        "source_score": claim.source_score,
        "claimed_score": claim.claimed_score,
        "source_kind": claim.source_kind,
        "claimed_confidence": claim.confidence,
        "snapshot_hash": claim.text_hash,
        "counts_in_full": claim.counts_in_full,
        "context": claim.context,
        "window_pieces": Json(claim.view.window.as_rows()) if claim.view else None,
        "window_hash": claim.view.window_hash if claim.view else None,
        "verdict": claim.finding.verdict,
        "verdict_reason": claim.finding.reason,
        "verdict_by": claim.finding.judge,
        "observed_at": claim.observed_at,
        "valid_from": claim.validity.valid_from,
        "valid_until": claim.validity.valid_until,
    }
