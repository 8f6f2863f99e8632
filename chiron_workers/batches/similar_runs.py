"""The cost of a run, from the costs of similar runs: the basis of every estimate."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from chiron_workers.billing.prices import Price
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.runs.entries import Usage

SQL = load(__file__)
LOOKED_AT = 2_000  # completed runs of the same role and model
RUNS_MAX = 200  # of them, or of those of the same subject, that count
ENOUGH_RUNS = 3  # of the same subject; with fewer, all subjects count
# Where none has completed: this many turns, each of which adds to a prompt that is cached.
TURNS = 15
PROMPT_TOKENS = 10_000  # that the first call is billed for
TOKENS_A_TURN = 3_500  # of results, added to the prompt
REPLY_TOKENS = 500
DEAR_FACTOR = 2  # cost of a dear run, over that of a usual one


class Basis(StrEnum):
    """The basis of an estimate."""

    SUBJECT = "subject"  # completed runs of the same role, model and subject
    MODEL = "model"  # completed runs of the same role and model
    ASSUMPTION = "assumption"  # 15 turns of usual length: no such run has completed


@dataclass(frozen=True, slots=True)
class SimilarRuns:
    """The cost of a run of a kind: the mean of `runs` completed ones, and the least cost of the dearest tenth.

    USD are None where the model has no price.
    """

    basis: Basis
    runs: int
    turns: float
    usd: Decimal | None
    usd_of_dear: Decimal | None
    tokens: int
    tokens_of_dear: int


async def similar_runs(
    pool: Pool, *, role: str, model: str, subject_ids: Sequence[str], price: Price | None, max_turns: int
) -> SimilarRuns:
    """The cost of a run of this role and model in these subjects; an assumption where none has completed.

    Args:
        price: That of the model, None where it has none. Runs that had no price do not count where it has one.
        max_turns: How many turns such a run may take, for the assumption.
    """
    has_price = price is not None
    args = {
        "role": role,
        "model": model,
        "subject_ids": list(subject_ids),
        "is_priced": has_price,
        "looked_at": LOOKED_AT,
        "limit": RUNS_MAX,
    }
    for row in await fetch_all(pool, SQL["similar"], args):
        of_subject = row.pop("of_subject")
        if of_subject and row["runs"] < ENOUGH_RUNS:
            continue
        if not has_price:
            row |= {"usd": None, "usd_of_dear": None}
        return SimilarRuns(Basis.SUBJECT if of_subject else Basis.MODEL, **row)
    return assumed(price, max_turns=max_turns)


def assumed(price: Price | None, *, max_turns: int) -> SimilarRuns:
    """The assumed cost of a run without similar ones."""
    turns = min(TURNS, max_turns)
    usage = typical_usage(turns)
    usd = None if price is None else price.cost_usd(usage)
    return SimilarRuns(
        Basis.ASSUMPTION,
        runs=0,
        turns=turns,
        usd=usd,
        usd_of_dear=None if usd is None else DEAR_FACTOR * usd,
        tokens=usage.tokens,
        tokens_of_dear=DEAR_FACTOR * usage.tokens,
    )


def typical_usage(turns: int) -> Usage:
    """Usage of so many turns: each writes its additions to the cache and reads the rest."""
    tokens_per_turn = TOKENS_A_TURN + REPLY_TOKENS
    return Usage(
        output_tokens=turns * REPLY_TOKENS,
        cache_write_tokens=PROMPT_TOKENS + (turns - 1) * tokens_per_turn,
        cache_read_tokens=sum(PROMPT_TOKENS + turn * tokens_per_turn for turn in range(turns - 1)),
    )
