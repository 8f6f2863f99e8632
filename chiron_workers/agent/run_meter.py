"""What a run pays hosted services for, call by call of its tools."""

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog

from chiron_workers.agent.metered_model import Reservation
from chiron_workers.agent.paid_commits import PaidCommits
from chiron_workers.billing.prices import NO_PRICE
from chiron_workers.billing.services import Call, Service
from chiron_workers.embeddings import UNPAID
from chiron_workers.errors import BudgetSpent, MoneyReserved, ToolError
from chiron_workers.runs.entries import MaxCost, ServiceAnswer, SideQuestion
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.settings import Settings

log = structlog.get_logger()


@dataclass(slots=True)
class RunMeter:
    """Pays for a tool call's use of hosted services, as `RunSideModel` pays for its model calls.

    Each answer is committed before the tool receives it. A tool call that is repeated after a crash reuses it.
    """

    run: Run
    journal: Journal
    settings: Settings
    n: int  # the entry that made the call
    call_id: str
    commits: PaidCommits
    # The answers that the tool call received, also in earlier executions.
    answers: list[ServiceAnswer] = field(default_factory=list)
    unpriced_calls: int = 0  # calls with an unknown cost
    _counts: Counter[str] = field(default_factory=Counter)

    async def ask(self, service: Service, question: str, call: Call, *, tokens_max: int = 0) -> Any:
        """Call a service, charge the run, and return the answer.

        Raises:
            ToolError: A budget binds the run and has no room for the call, or its price is unknown.
            LeaseLost: The run is no longer ours.
        """
        if service.is_unknown:
            return await self._ask_unpriced(service, call)
        key = self._key(service, question)
        stored_answer = await self.journal.read_service_answer(self.run, key)
        if stored_answer is not None:
            self.answers.append(stored_answer)
            return stored_answer.data
        answer = await self._ask_anew(service, call, MaxCost(service.cost_usd(tokens_max), 0))
        await self.commits.commit(lambda: self._commit(key, answer), answer.reserved)
        return answer.data

    def payload(self) -> dict[str, object]:
        """What the call has paid, as fields of the event that tells of it; empty where it asked no service that costs."""
        if not self.answers and not self.unpriced_calls:
            return {}
        usd = None if self.unpriced_calls else float(sum(answer.cost_usd for answer in self.answers))
        return {"service_calls": len(self.answers) + self.unpriced_calls, "services_usd": usd}

    async def _ask_unpriced(self, service: Service, call: Call) -> Any:
        if self.run.price != NO_PRICE:  # else no budget in USD binds the run, or its batch
            raise ToolError(service.unknown_price())
        self.unpriced_calls += 1
        return await call(UNPAID)

    async def _ask_anew(self, service: Service, call: Call, max_cost: MaxCost) -> ServiceAnswer:
        payment = _RunPayment(
            Reservation(
                self.run,
                self.journal.pool,
                max_cost,
                self.settings.daily_budget_usd or None,
                timedelta(seconds=self.settings.lease_s),
            )
        )
        try:
            data = await call(payment)
        except (BudgetSpent, MoneyReserved) as error:
            raise ToolError(
                f"{service.name} was not asked, since no budget has room for that. {error}"
            ) from None
        except BaseException:  # an answer that cannot be used, or a cancel: it may be billed
            await payment.reservation.settle_cancelled()
            raise
        max_cost = payment.reservation.max_cost
        cost_usd = service.charge_usd(payment.tokens, reserved_usd=max_cost.usd)
        if service.cost_usd(payment.tokens or 0) > cost_usd:
            log.warning("service.overcharged", service=service.name, tokens=payment.tokens)
        return ServiceAnswer(service.name, data, cost_usd, max_cost)

    async def _commit(self, key: SideQuestion, answer: ServiceAnswer) -> None:
        await self.journal.append_service_answer(self.run, key, answer)
        self.answers.append(answer)

    def _key(self, service: Service, question: str) -> SideQuestion:
        digest = hashlib.sha256(f"{service.name}\n{question}".encode()).hexdigest()
        self._counts[digest] += 1
        return SideQuestion(self.n, self.call_id, digest, self._counts[digest])


@dataclass(slots=True)
class _RunPayment:
    reservation: Reservation
    tokens: int | None = None

    async def reserve(self) -> None:
        await self.reservation.reserve()

    async def fail(self, *, maybe_billed: bool) -> None:
        await self.reservation.settle_try(maybe_billed=maybe_billed)

    def count(self, tokens: int | None) -> None:
        self.tokens = tokens
