"""The options and the receipt of acts that order text from a model."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from chiron_api.acts.inputs import Flag, Input, Name, Tokens, Usd
from chiron_api.answers.runs import WritingReceipt
from chiron_api.services import Services
from chiron_workers.billing.budgets import Budget

if TYPE_CHECKING:  # what showing the help of a command does without
    from chiron_workers.batches.submit import Submitted


class Order(Input):
    """The model that writes, and its budget."""

    model: Annotated[Name | None, Field(description="The model that writes. Default: CHIRON_MODEL.")] = None
    budget_usd: Annotated[
        Usd | None,
        Field(description="The most that the writing may cost. It pauses there, and a resume continues it."),
    ] = None
    budget_tokens: Annotated[Tokens | None, Field(description="How many tokens the writing may use.")] = None
    again: Annotated[
        Flag, Field(description="Write it again, although the facts are the same as the last time.")
    ] = False

    @property
    def budget(self) -> Budget:
        """Both amounts."""
        return Budget(self.budget_usd, self.budget_tokens)


async def receipt_of(services: Services, batch: "Submitted") -> WritingReceipt:
    """Wake the workers for a submitted batch, and return its receipt."""
    await services.notify(batch.batch_id)
    return WritingReceipt.model_validate(batch)
