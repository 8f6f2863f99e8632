"""The budget that lets the open runs of a batch, or one run, finish."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal
from math import ceil
from typing import Literal, TypeVar
from uuid import UUID

from psycopg.rows import DictRow

from chiron_workers.batches.similar_runs import Basis, SimilarRuns, similar_runs
from chiron_workers.billing.budgets import BUDGETS_SQL
from chiron_workers.billing.call_costs import next_call_cost
from chiron_workers.billing.prices import CENT, Price, rates_of
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import load
from chiron_workers.problems import Noun, Remedy, RemedyAction
from chiron_workers.settings import settings

SQL = load(__file__, BUDGETS_SQL)
Amount = TypeVar("Amount", Decimal, int)
# Of the results of one turn, which the reservation of the call after it counts as a token each.
RESULT_BYTES = 20_000


@dataclass(frozen=True, slots=True)
class CostToFinish:
    """The budget in all that is about enough, of the batch or run `target`; None of a unit of which it has enough.

    `run_usd` and `run_tokens` are for each open run of a batch of which runs met their own budgets. It rests on what
    `similar_runs` completed runs have cost, `similar_usd` together; on an assumption where there are none.
    """

    target: UUID
    budget: Literal["batch", "run"]
    open_runs: int
    usd: Decimal | None
    tokens: int | None
    basis: Basis
    similar_runs: int
    similar_usd: Decimal | None
    similar_tokens: int
    run_usd: Decimal | None = None
    run_tokens: int | None = None

    @property
    def words(self) -> str:
        """The amounts, the runs that they let finish, and their basis, as a sentence."""
        who = (
            "it"
            if self.budget == "run"
            else "the open run"
            if self.open_runs == 1
            else f"the {self.open_runs:,} open runs"
        )
        owner = " of the batch" if self.budget == "batch" else ""
        budgets = (
            [f"{owner} of about {amounts} in all"] if (amounts := _amounts(self.usd, self.tokens)) else []
        )
        if amounts := _amounts(self.run_usd, self.run_tokens):
            budgets.append(f" of about {amounts} in all for each run")
        return f"A budget{', and one'.join(budgets)} {'let' if len(budgets) > 1 else 'lets'} {who} finish; {self._basis}."

    @property
    def remedy(self) -> Remedy:
        """Raise the budget to that, and continue."""
        amounts = {
            "budget_usd": self.usd and f"{self.usd:f}",
            "budget_tokens": self.tokens and str(self.tokens),
            "run_budget_usd": self.run_usd and f"{self.run_usd:f}",
            "run_budget_tokens": self.run_tokens and str(self.run_tokens),
        }
        arguments = {name: amount for name, amount in amounts.items() if amount}
        return Remedy(RemedyAction.RESUME, Noun(self.budget), str(self.target), arguments)

    @property
    def _basis(self) -> str:
        if self.basis is Basis.ASSUMPTION:
            return "a guess, since no such run has completed here yet"
        cost = (
            f"{self.similar_tokens:,} tokens"
            if self.similar_usd is None or self.usd is None
            else f"{self.similar_usd:,.2f} USD"
        )
        return (
            f"{self.similar_runs:,} similar run{' has' if self.similar_runs == 1 else 's have'} cost {cost}"
        )


@dataclass(frozen=True, slots=True)
class _Kind:
    """Open runs of one role and model, what one like them costs, and the most that a call of theirs may cost."""

    role: str
    model: str
    runs: int
    similar: SimilarRuns
    next_usd: Decimal
    next_tokens: int

    @property
    def usd(self) -> Decimal:
        return self.similar.usd or Decimal()

    @property
    def spread_usd(self) -> Decimal:
        return self.runs * _spread(self.usd, self.similar.usd_of_dear or Decimal())

    @property
    def spread_tokens(self) -> int:
        return self.runs * int(_spread(Decimal(self.similar.tokens), Decimal(self.similar.tokens_of_dear)))


async def cost_to_finish(pool: Pool, target: UUID, *, with_run_budgets: bool = False) -> CostToFinish | None:
    """The budget that lets a run, or the open runs of a batch, finish; None where it has enough, or nothing is open.

    budget = spent + remaining + spread + next call, in whole cents.

    - spent: by all its runs, with calls whose reply is lost.
    - remaining: the sum over its open runs of max(mean cost of similar runs - spent by the run, mean cost of a turn). A run
      of a batch that used all its turns is open, too, as a resume continues it; it may cost as much again as a similar run.
    - spread: (cost of a dear similar run - mean) x open runs. Runs of a batch are not independent: all of them read more as
      their subject grows, so all may be dear. The amount is a limit, which costs nothing by itself.
    - next call: the most that a call of these runs may cost, since each needs room for that before it is made: what they paused
      at, or a call at the end of a similar run, whichever is more.

    Args:
        with_run_budgets: Also the budget for each open run of a batch: the same sum for the dearest of them.
    """
    balances = await fetch_all(pool, SQL["balance"], {"target": target})
    rows = await fetch_all(pool, SQL["open_kinds"], {"target": target})
    if not balances or not rows:
        return None
    [balance] = balances
    if not with_run_budgets and balance["budget_usd"] is None and balance["budget_tokens"] is None:
        return None
    kinds = [await _kind(pool, row) for row in rows]
    [remaining] = await fetch_all(pool, SQL["remaining"], _remaining_args(target, kinds))
    usd = remaining["usd"] + sum(kind.spread_usd for kind in kinds) + max(kind.next_usd for kind in kinds)
    tokens = (
        remaining["tokens"]
        + sum(kind.spread_tokens for kind in kinds)
        + max(kind.next_tokens for kind in kinds)
    )
    has_prices = all(kind.similar.usd is not None for kind in kinds)
    own = await _dearest_run(pool, target, kinds) if with_run_budgets else None
    cost = CostToFinish(
        target,
        balance["budget"],
        sum(kind.runs for kind in kinds),
        usd=_raised(balance["budget_usd"], _budget_usd(balance, usd)) if has_prices else None,
        tokens=_raised(balance["budget_tokens"], _budget_tokens(balance, tokens)),
        basis=_weakest([kind.similar.basis for kind in kinds]),
        similar_runs=sum(kind.similar.runs for kind in kinds),
        similar_usd=sum((kind.usd * kind.similar.runs for kind in kinds), Decimal()) if has_prices else None,
        similar_tokens=sum(kind.similar.tokens * kind.similar.runs for kind in kinds),
        run_usd=own["usd"].quantize(CENT, ROUND_UP) if own and own["usd"] and has_prices else None,
        run_tokens=own["tokens"] if own else None,
    )
    return cost if cost.remedy.arguments else None


async def _dearest_run(pool: Pool, target: UUID, kinds: Sequence[_Kind]) -> DictRow:
    args = _remaining_args(target, kinds) | {
        "room_usd": [
            _spread(kind.usd, kind.similar.usd_of_dear or Decimal()) + kind.next_usd for kind in kinds
        ],
        "room_tokens": [
            int(_spread(Decimal(kind.similar.tokens), Decimal(kind.similar.tokens_of_dear)))
            + kind.next_tokens
            for kind in kinds
        ],
    }
    [row] = await fetch_all(pool, SQL["dearest_run"], args)
    return row


async def cost_to_finish_paused(pool: Pool, target: UUID) -> CostToFinish | None:
    """`cost_to_finish` of a batch or a run that paused at a budget: of the batch where its budget was met, else of the run.

    For a batch whose runs met their own budgets it includes the budget for each run. None where nothing paused at a budget.
    """
    rows = await fetch_all(pool, SQL["paused_at_budget"], {"target": target})
    if not rows:
        return None
    batch_id = rows[0]["batch_id"]
    budgets = {row["budget"] for row in rows}
    owner_id = batch_id if "batch" in budgets else target
    is_of_runs = target == batch_id and "run" in budgets
    return await cost_to_finish(pool, owner_id, with_run_budgets=is_of_runs)


async def _kind(pool: Pool, row: DictRow) -> _Kind:
    model, price = row["model"], _price(row)
    similar = await similar_runs(
        pool,
        role=row["role"],
        model=model,
        subject_ids=row["subject_ids"],
        price=price,
        max_turns=row["max_turns"],
    )
    last_call = next_call_cost(
        price,
        prompt_tokens=_last_prompt_tokens(similar) + RESULT_BYTES,
        reply_tokens=settings().max_tokens,
    )
    return _Kind(
        row["role"],
        model,
        row["runs"],
        similar,
        next_usd=max(row["next_usd"] or Decimal(), last_call.usd),
        next_tokens=max(row["next_tokens"] or 0, last_call.tokens),
    )


def _price(row: DictRow) -> Price | None:
    """The price that its runs have frozen; rows of a version before have none, and today's counts."""
    if row["price"] is None:
        return rates_of(row["model"], settings().prices)
    return None if isinstance(row["price"], str) else Price.of_json(row["price"])


def _amounts(usd: Decimal | None, tokens: int | None) -> str:
    amounts = [] if usd is None else [f"{usd:,.2f} USD"]
    amounts += [] if tokens is None else [f"{tokens:,} tokens"]
    return " and ".join(amounts)


def _last_prompt_tokens(similar: SimilarRuns) -> int:
    """Tokens of the last prompt of a similar run: twice the mean of its turns, as a prompt that grows evenly has at most."""
    return ceil(2 * similar.tokens / max(similar.turns, 1))


def _spread(mean: Decimal, dear: Decimal) -> Decimal:
    return max(dear - mean, Decimal())


def _remaining_args(target: UUID, kinds: Sequence[_Kind]) -> dict[str, object]:
    turns = [max(Decimal(kind.similar.turns), Decimal(1)) for kind in kinds]
    return {
        "target": target,
        "roles": [kind.role for kind in kinds],
        "models": [kind.model for kind in kinds],
        "usd": [kind.usd for kind in kinds],
        "turn_usd": [kind.usd / count for kind, count in zip(kinds, turns, strict=True)],
        "tokens": [kind.similar.tokens for kind in kinds],
        "turn_tokens": [int(kind.similar.tokens / count) for kind, count in zip(kinds, turns, strict=True)],
    }


def _raised(limit: Amount | None, amount: Amount) -> Amount | None:
    """The amount, if the limit that there is does not suffice."""
    return amount if limit is not None and limit < amount else None


def _budget_usd(balance: DictRow, usd: Decimal) -> Decimal:
    spent_usd, reserved_usd = Decimal(balance["spent_usd"]), Decimal(balance["reserved_usd"])
    # A budget below the reserved amount is refused.
    return (spent_usd + max(usd, reserved_usd)).quantize(CENT, ROUND_UP)


def _budget_tokens(balance: DictRow, tokens: int) -> int:
    return int(balance["spent_tokens"] + max(tokens, balance["reserved_tokens"]))


def _weakest(bases: Sequence[Basis]) -> Basis:
    return max(bases, key=list(Basis).index)
