from typing import Protocol


class Payment(Protocol):
    """The money of one call of a hosted service, which may take several tries."""

    async def reserve(self) -> None:
        """Set aside what a try may cost at most, before it is made."""

    async def fail(self, *, maybe_billed: bool) -> None:
        """A try brought no answer: free its money, or count it as unconfirmed where the service may bill it."""

    def count(self, tokens: int | None) -> None:
        """Take the tokens that the service counts; None where it does not say."""


class _Unpaid:
    """Of calls that cost nothing, or of which nobody knows what they cost."""

    async def reserve(self) -> None:
        pass

    async def fail(self, *, maybe_billed: bool) -> None:
        pass

    def count(self, tokens: int | None) -> None:
        pass


UNPAID: Payment = _Unpaid()
