"""What a caller of the client can react to, one class for each reaction."""

from chiron_api.answers.basics import Problem


class ChironError(Exception):
    """Anything that the client cannot do; its text says what happened and what to do.

    `status` is that of the answer, and `problem` its document; both are None where there was none. `retry_after_s` is
    how long the server wants to be left alone, 0 where it said nothing.
    """

    def __init__(
        self,
        sentence: str,
        *,
        status: int | None = None,
        problem: Problem | None = None,
        retry_after_s: float = 0.0,
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.problem = problem
        self.retry_after_s = retry_after_s


class Refused(ChironError):
    """The request is wrong, or not allowed, or nothing is in a state for it (4xx): it will be refused again."""


class NotFound(Refused):
    """There is nothing of this id or name, or it is somebody else's (404)."""


class RateLimited(Refused):
    """The key has sent as many requests as it may (429); it may again after `retry_after_s`."""


class Unavailable(ChironError):
    """Nothing answers, or the server cannot do it now (5xx): the same request may succeed later."""


class Unreadable(ChironError):
    """An answer that this client does not understand: server and client are of versions that do not fit."""


class StillOpen(ChironError, TimeoutError):
    """What was waited for is not over yet. It goes on."""
