"""Random acts of three keys of two owners, and of the local user: after each, all sums are those of a ledger kept beside."""

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

import pytest

from chiron_workers.access.allotments import committed_usd, correct, pay
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.access.principals import LOCAL, Principal
from chiron_workers.batches.delete import delete
from chiron_workers.batches.steering import cancel, pause, resume, retry
from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool, fetch_all
from chiron_workers.db.queries import sql
from chiron_workers.errors import Conflict, KeyBudgetSpent, NotFound
from chiron_workers.runs.batch_completion import complete_batch
from chiron_workers.runs.leases import say
from chiron_workers.states import AccessScope

FEW, MANY = 100, 1_000  # acts
MODEL = "claude-opus-4-5"
CENT = Decimal("0.01")
BUDGETS_USD = {"anna": Decimal(6), "anders": Decimal("0.5"), "bert": Decimal(9)}  # for FEW acts
OWNERS = {"anna": "a", "anders": "a", "bert": "b"}
ACTS = [
    *["submit", "retry", "say"] * 3,
    *["reserve", "settle", "budget", "end"] * 5,
    *["pause", "resume", "cancel", "delete", "search"],
]


BATCHES = """
select b.id, b.budget_usd, b.finished_at, c.spent_usd + c.unconfirmed_usd as spent,
       (select coalesce(sum(reserved_usd), 0) from runs where batch_id = b.id) as reserved
  from batches b
  join batch_costs c on c.batch_id = b.id"""

REST = """
select coalesce(sum(budget_usd - spent_usd - unconfirmed_usd), 0) as usd
  from runs
 where batch_id = %(id)s and finished_at is null"""


@dataclass(slots=True)
class Purse:
    """Who gave what to a batch or a run, in order; `base` is what is below that: others' money, and what is settled."""

    base: Decimal
    layers: list[tuple[UUID | None, Decimal]] = field(default_factory=list)

    @property
    def sum(self) -> Decimal:
        return self.base + sum((usd for _, usd in self.layers), Decimal())

    def change(self, key_id: UUID | None, usd: Decimal) -> None:
        """Add a layer, or take from the top."""
        if usd > 0:
            self.layers.append((key_id, usd))
        while usd < 0 and self.layers:
            giver, amount = self.layers.pop()
            part = min(amount, -usd)
            usd += part
            if amount > part:
                self.layers.append((giver, amount - part))
        self.base += min(usd, Decimal())

    def shares(self, spent: Decimal) -> Counter[UUID | None]:
        """What each has spent of what it gave: earlier money first."""
        rest, shares = spent - self.base, Counter[UUID | None]()
        for giver, usd in self.layers:
            shares[giver] += max(min(usd, rest), Decimal())  # type: ignore[assignment]
            rest -= usd
        return shares


class Play:
    """The database, and beside it what each key has given and spent."""

    def __init__(
        self, pool: Pool, chance: Random, keys: dict[str, Principal], budgets: dict[str, Decimal]
    ) -> None:
        self.pool, self.chance, self.keys, self.budgets = pool, chance, keys, budgets
        self.purses: dict[UUID, Purse] = {}  # of open batches, and of runs in batches without a budget
        self.batch_of: dict[UUID, UUID] = {}
        self.spent: Counter[UUID | None] = Counter()
        self.counts: Counter[str] = Counter()  # of refusals, and of acts of keys that give something

    async def rows(self, statement: str, **args: Any) -> list[dict[str, Any]]:
        return await fetch_all(self.pool, sql.SQL(statement), args)  # type: ignore[arg-type]

    async def batch(self, batch_id: UUID) -> dict[str, Any]:
        [row] = await self.rows(f"{BATCHES} where b.id = %(id)s", id=batch_id)
        return row

    async def some(self, condition: str = "true") -> dict[str, Any] | None:
        """A run that meets it."""
        rows = await self.rows(f"select * from runs where {condition} order by id")  # noqa: S608
        return self.chance.choice(rows) if rows else None

    def left(self, principal: Principal) -> Decimal | None:
        if principal.key_id is None:
            return None
        name = next(name for name, other in self.keys.items() if other == principal)
        given = sum(
            (
                usd
                for purse in self.purses.values()
                for giver, usd in purse.layers
                if giver == principal.key_id
            ),
            Decimal(),
        )
        return self.budgets[name] - given - self.spent[principal.key_id]

    async def act(self) -> None:
        kind = self.chance.choice(ACTS)
        principal = self.chance.choice([LOCAL, *self.keys.values()])
        try:
            await getattr(self, kind)(principal)
        except (Conflict, KeyBudgetSpent, NotFound) as error:
            self.counts[type(error).__name__] += 1

    async def submit(self, principal: Principal) -> None:
        usd = None if self.chance.random() < (0.9 if principal is LOCAL else 0.2) else self.amount(4)
        left = self.left(principal)
        budget = Budget(Decimal(1))
        runs = [NewRun(f"Topic {n}", "research", "Physics", MODEL, 20, budget=budget) for n in range(2)]
        receipt = await submit(self.pool, NewBatch(runs, "Physics", budget=Budget(usd)), principal=principal)
        usd = left if usd is None else usd
        assert (await self.batch(receipt.batch_id))["budget_usd"] == usd
        for run_id in receipt.run_ids:
            self.batch_of[run_id] = receipt.batch_id
        if usd:
            self.purses[receipt.batch_id] = Purse(Decimal(), [(principal.key_id, usd)])

    async def reserve(self, _: Principal) -> None:
        """A call is made where every budget has room for it, as reservations.sql has it."""
        run = await self.some("state in ('queued', 'running')")
        if run is None:
            return
        batch, usd = await self.batch(run["batch_id"]), self.amount(1)
        if batch["budget_usd"] is not None and batch["spent"] + batch["reserved"] + usd > batch["budget_usd"]:
            return
        if run["spent_usd"] + run["unconfirmed_usd"] + run["reserved_usd"] + usd > run["budget_usd"]:
            return
        await self.rows(
            "update runs set state = 'running', reserved_usd = reserved_usd + %(usd)s where id = %(id)s returning 1",
            id=run["id"],
            usd=usd,
        )

    async def settle(self, _: Principal) -> None:
        if run := await self.some("reserved_usd > 0"):
            await self.count(
                run, self.chance.choice([Decimal(), run["reserved_usd"] / 2, run["reserved_usd"]])
            )

    async def count(self, run: dict[str, Any], usd: Decimal) -> None:
        """Replies arrive, and a call that was cut, which may have been billed."""
        usd = usd.quantize(CENT / 100)
        column = self.chance.choice(["spent_usd", "unconfirmed_usd"])
        await self.rows(
            f"""with r as (update runs set reserved_usd = 0, {column} = {column} + %(usd)s where id = %(id)s returning batch_id)
                insert into batch_sums as s (batch_id, shard, {column}) select batch_id, 0, %(usd)s from r
                on conflict (batch_id, shard) do update set {column} = s.{column} + excluded.{column} returning 1""",  # noqa: S608
            id=run["id"],
            usd=usd,
        )

    async def budget(self, principal: Principal) -> None:
        """Raise or lower the budget of a batch or a run, where it may be and where it may not."""
        run = await self.some("finished_at is null" if self.chance.random() < 0.8 else "true")
        if run is None:
            return
        batch = await self.batch(run["batch_id"])
        share = 0.2 if batch["budget_usd"] is None else 0.6
        target = run["batch_id"] if self.chance.random() < share else run["id"]
        before, left = (run if target == run["id"] else batch)["budget_usd"], self.left(principal)
        if before is None:  # the first budget of a batch grows from what its runs may spend
            [row] = await self.rows(REST, id=batch["id"])
            before = batch["spent"] + row["usd"]
        usd = self.amount(5) if self.chance.random() < 0.3 else before + self.amount(1) / 4
        pays = target == batch["id"] or batch["budget_usd"] is None
        try:
            await resume(self.pool, target, budget=Budget(usd), principal=principal)
        except KeyBudgetSpent:
            assert left is not None
            assert usd - before > left
            raise
        assert batch["finished_at"] is None
        if target == batch["id"]:
            assert usd >= batch["spent"] + batch["reserved"]
        else:
            assert usd >= run["spent_usd"] + run["unconfirmed_usd"] + run["reserved_usd"]
        if pays:
            assert left is None or usd - before <= left
            noun = "run" if target == run["id"] else "batch"
            self.counts[f"raise of {noun}"] += left is not None and usd > before
            self.purses.setdefault(target, Purse(before)).change(principal.key_id, usd - before)
        elif purse := self.purses.get(target):  # the batch's money comes before what was given to the run
            purse.base = max(usd - sum(given for _, given in purse.layers), Decimal())

    async def end(self, _: Principal) -> None:
        if run := await self.some("state in ('queued', 'running')"):
            await self.count(run, run["reserved_usd"])
            state = self.chance.choice(["completed", "failed"])
            await self.rows(
                "update runs set state = %(state)s, finished_at = now() where id = %(id)s returning 1",
                id=run["id"],
                state=state,
            )
            await self.complete(run["batch_id"])

    async def complete(self, batch_id: UUID) -> None:
        before = await self.batch(batch_id)
        await complete_batch(self.pool, batch_id)
        after = await self.batch(batch_id)
        if before["finished_at"] is None and after["finished_at"] is not None:
            await self.close(after)

    async def close(self, batch: dict[str, Any]) -> None:
        self.spent.update(self.purses.pop(batch["id"], Purse(Decimal())).shares(batch["spent"]))
        for run in await self.rows(
            "select id, spent_usd + unconfirmed_usd as spent from runs where batch_id = %(id)s",
            id=batch["id"],
        ):
            if purse := self.purses.pop(run["id"], None):
                self.spent.update(purse.shares(run["spent"]))

    async def reopen(self, principal: Principal, before: dict[str, Any]) -> None:
        if before["finished_at"] is None:
            return
        after = await self.batch(before["id"])
        assert after["finished_at"] is None
        purse = Purse(before["spent"])
        self.counts["reopening"] += principal is not LOCAL
        if before["budget_usd"] is None:
            self.counts["binding"] += principal is not LOCAL
            left = self.left(principal)
            assert after["budget_usd"] == (None if left is None else before["spent"] + left)
            if left is None:
                return
            purse.change(principal.key_id, left)
        else:
            purse.change(principal.key_id, max(after["budget_usd"] - before["spent"], Decimal()))
        self.purses[before["id"]] = purse

    async def retry(self, principal: Principal) -> None:
        if run := await self.some("state in ('completed', 'failed', 'cancelled')"):
            before = await self.batch(run["batch_id"])
            target = self.chance.choice([run["id"], run["batch_id"]])
            await retry(self.pool, target, from_scratch=self.chance.random() < 0.5, principal=principal)
            await self.reopen(principal, before)

    async def say(self, principal: Principal) -> None:
        if run := await self.some():
            before = await self.batch(run["batch_id"])
            await say(self.pool, run["id"], "And the other side?", principal=principal)
            await self.reopen(principal, before)

    async def search(self, principal: Principal) -> None:
        """A call of a hosted service outside of runs, which may cost less than was set aside for it."""
        left = self.left(principal)
        if left is None:
            return
        most = self.amount(1) / 10
        cost = most * self.chance.choice([0, 1, 2]) / 2
        try:
            at = await pay(self.pool, principal, "voyage-3.5", most)
        except KeyBudgetSpent:
            assert most > left
            raise
        assert most <= left
        await correct(self.pool, principal, "voyage-3.5", cost - most, at)
        self.spent[principal.key_id] += cost  # type: ignore[assignment]

    async def pause(self, _: Principal) -> None:
        if run := await self.some("state = 'queued'"):
            await pause(self.pool, run["id"])

    async def resume(self, principal: Principal) -> None:
        if run := await self.some("state = 'paused'"):
            await resume(self.pool, run["batch_id"], principal=principal)

    async def cancel(self, _: Principal) -> None:
        if run := await self.some("state in ('queued', 'paused')"):
            before = await self.batch(run["batch_id"])
            await cancel(self.pool, run["id"])
            after = await self.batch(run["batch_id"])
            if before["finished_at"] is None and after["finished_at"] is not None:
                await self.close(after)

    async def delete(self, _: Principal) -> None:
        run = await self.some("state in ('completed', 'failed', 'cancelled')")
        if run is None:
            return
        batch = await self.batch(run["batch_id"])
        target = run["id"] if self.chance.random() < 0.5 else run["batch_id"]
        deletion = await delete(self.pool, target)
        if purse := self.purses.pop(run["id"], None):
            self.spent.update(purse.shares(run["spent_usd"] + run["unconfirmed_usd"]))
        if deletion.batch and batch["id"] in self.purses:
            await self.close(batch)

    async def check(self) -> None:
        sums = await committed_usd(self.pool, [key.key_id for key in self.keys.values() if key.key_id])
        spent = Counter(self.spent)
        for row in await self.rows(BATCHES):
            if row["budget_usd"] is not None:
                assert row["budget_usd"] >= row["spent"] + row["reserved"]
            if row["finished_at"] is None and row["budget_usd"] is not None:
                assert self.purses[row["id"]].sum == row["budget_usd"]
                spent.update(self.purses[row["id"]].shares(row["spent"]))
        for run in await self.rows("select id, budget_usd, spent_usd + unconfirmed_usd as spent from runs"):
            if purse := self.purses.get(run["id"]):
                # A run whose batch pays may get less than keys gave it before; what they gave stays theirs.
                assert purse.sum <= run["budget_usd"] or not purse.base
                spent.update(purse.shares(run["spent"]))
        for name, key in self.keys.items():
            left = self.left(key)
            assert left is not None
            assert sums[key.key_id] == self.budgets[name] - left  # type: ignore[index]
            assert spent[key.key_id] <= sums[key.key_id] <= self.budgets[name]  # type: ignore[index]

    def amount(self, most: int) -> Decimal:
        return CENT * self.chance.randint(1, most * 100)


@pytest.mark.parametrize("acts", [FEW, pytest.param(MANY, marks=pytest.mark.acceptance)])
async def test_no_order_of_acts_has_a_key_spend_more_than_its_budget(pool: Pool, chance: Random, acts: int):
    keys, budgets = {}, {name: usd * acts / FEW for name, usd in BUDGETS_USD.items()}
    for name, usd in budgets.items():
        new = NewKey(name, AccessScope.SUBMIT, owner=OWNERS[name], budget_usd=usd)
        keys[name] = (await create_key(pool, new))[1].principal
    play = Play(pool, chance, keys, budgets)
    for _ in range(acts):
        await play.act()
        await play.check()
    if acts == MANY:  # each of these comes 15 to 110 times, whatever is drawn
        assert sum(play.spent.values()) > 0
        assert (
            min(play.counts[kind] for kind in ("raise of batch", "reopening", "KeyBudgetSpent", "Conflict"))
            > 0
        )
