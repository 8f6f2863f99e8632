"""What a key pays hosted services for outside of runs: its searches, and the facts that it stores."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from chiron_workers.access.allotments import correct, key_budget, pay
from chiron_workers.access.principals import Principal
from chiron_workers.billing.services import Call, Service
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import UNPAID
from chiron_workers.errors import KeyBudgetSpent, ServiceUnpaid
from chiron_workers.states import AccessScope


@dataclass(frozen=True, slots=True)
class KeyMeter:
    """Has the key of a request pay for the calls of hosted services that answer it.

    A key that may submit and has no budget may spend without a limit, and so it may here. One that may only read may not.
    """

    pool: Pool
    principal: Principal
    key_id: UUID

    async def ask(self, service: Service, question: str, call: Call, *, tokens_max: int = 0) -> Any:
        """Call a service, charge the key, and return the answer.

        Raises:
            ServiceUnpaid: The key has no budget and may only read, or its budget has no room for the call, or the price
                is unknown.
        """
        name, budget_usd = await key_budget(self.pool, self.key_id)
        if budget_usd is None and not self.principal.may(AccessScope.SUBMIT):
            raise ServiceUnpaid(
                f"The key {name!r} may only read and has no budget, and {service.name} costs money for each call. "
                "A new key with a budget pays for its own."
            )
        if service.is_unknown:
            if budget_usd is not None:
                raise ServiceUnpaid(service.unknown_price())
            return await call(UNPAID)
        payment = _KeyPayment(self.pool, self.principal, service.name, service.cost_usd(tokens_max))
        try:
            data = await call(payment)
        except KeyBudgetSpent as error:
            raise ServiceUnpaid(str(error)) from None
        await payment.settle(service.charge_usd(payment.tokens, reserved_usd=payment.most_usd))
        return data


@dataclass(slots=True)
class _KeyPayment:
    """What is paid for each try before it is made; a call that is cut stays paid, since it may be billed."""

    pool: Pool
    principal: Principal
    service: str
    most_usd: Decimal
    tokens: int | None = None
    _paid_at: datetime | None = None

    async def reserve(self) -> None:
        self._paid_at = await pay(self.pool, self.principal, self.service, self.most_usd)

    async def fail(self, *, maybe_billed: bool) -> None:
        if not maybe_billed:
            await self.settle(Decimal())

    async def settle(self, cost_usd: Decimal) -> None:
        if self._paid_at is not None and cost_usd != self.most_usd:
            difference_usd = cost_usd - self.most_usd
            await correct(self.pool, self.principal, self.service, difference_usd, self._paid_at)

    def count(self, tokens: int | None) -> None:
        self.tokens = tokens
