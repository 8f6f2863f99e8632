"""One class for each different reaction. Every message is a sentence that says what to do."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from chiron_workers.problems import Remedy


class ChironError(Exception):
    """Something a person can mend; the command line prints the message and exits with 1.

    `remedies` say what helps. Each front end shows them in its own way.
    """

    def __init__(self, *args: object, remedies: Sequence[Remedy] = ()) -> None:
        super().__init__(*args)
        self.remedies = tuple(remedies)


class UsageError(ChironError):
    """The call itself is wrong (a flag, a file, a value); the command line exits with 2."""


class ConfigurationError(UsageError):
    """A setting has a value that cannot be used."""


class TimeZoneUnknown(UsageError):
    """This machine knows no time zone of that name; another one, with other data, may."""


class ServiceUnavailable(ChironError):
    """Postgres, Redis or the model cannot be reached; the same call may work later."""


class NotFound(ChironError):
    """No row has the id that was asked for."""


class Conflict(ChironError):
    """The row is in a state that does not allow the change; nothing was written."""


class KeyReused(Conflict):
    """An idempotency key came with another request than at first."""


class Unauthenticated(ChironError):
    """A key or a session is unknown, expired or revoked; whoever sent it needs another."""


class ScopeExceeded(ChironError):
    """The key is for less than what was asked for."""


class RateExceeded(ChironError):
    """The key has sent as many requests as it may; another is possible in `retry_after_s` seconds."""

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class KeyBudgetSpent(ChironError):
    """The budget of the key has no room for what was asked for; nothing was written."""


class LeaseLost(ChironError):
    """Another worker has the run, or it was stopped; the holder leaves without writing."""

    def __init__(self, run_id: UUID) -> None:
        super().__init__(f"The lease of run {run_id} is lost.")
        self.run_id = run_id


class ServerChanged(ChironError):
    """Another Postgres server answers: the worker compares its leases with the rows there before it acquires a run."""

    def __init__(self, started_at: datetime) -> None:
        super().__init__(f"Another Postgres server answers; it was started at {started_at}.")
        self.started_at = started_at


class RunFailed(ChironError):
    """The run cannot go on as it stands; `kind` goes into its error."""

    def __init__(self, kind: str, message: str, *, remedies: Sequence[Remedy] = ()) -> None:
        super().__init__(message, remedies=remedies)
        self.kind = kind


class NoProgress(ChironError):
    """The last turns of a run brought nothing new: it pauses until somebody lets it go on."""


class BudgetSpent(ChironError):
    """A budget has no room for the next call: the run pauses, or waits `retry_after_s` seconds where that helps.

    `limit` says which budget it is ("run" or "batch"), its unit ("usd" or "tokens"), its amount, the least one that pays the
    call, and what the call may cost ("next"); empty for the day's.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        limit: Mapping[str, str] | None = None,
        remedies: Sequence[Remedy] = (),
    ) -> None:
        super().__init__(message, remedies=remedies)
        self.retry_after_s = retry_after_s
        self.limit = dict(limit or {})


class PriceUnknown(BudgetSpent):
    """A budget binds a run of which nobody knows what its calls cost: it pauses, whatever is left of the budget."""


class Overcharged(ChironError):
    """A server reports more for a call than it can cost: the run pauses, and was charged no more than was reserved."""


class MoneyReserved(ChironError):
    """A budget has no room until calls in flight are answered; the run waits."""


class WindowExceeded(RunFailed):
    """A request is longer than the model's context window; the run goes on with a shorter one, if it can."""

    def __init__(
        self, message: str, *, tokens_sent: int | None = None, tokens_max: int | None = None
    ) -> None:
        super().__init__("context_window", message)
        self.tokens_sent = tokens_sent
        self.tokens_max = tokens_max


class ModelUnavailable(ChironError):
    """The model cannot answer now; the run goes back to the queue for `retry_after_s` seconds."""

    def __init__(self, message: str, *, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ModelHeld(ModelUnavailable):
    """No run can call this model for `retry_after_s` seconds, so its whole queue waits.

    `is_news` where the model itself said so just now, rather than to another run before.
    """

    def __init__(self, message: str, *, retry_after_s: float, is_news: bool) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        self.is_news = is_news


class KeyRefused(ChironError):
    """The model's server refuses the key, so the run waits, also in the midst of a tool call; `is_news` as in ModelHeld."""

    def __init__(self, message: str, *, retry_after_s: float, is_news: bool) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.is_news = is_news


class ToolError(ChironError):
    """A tool call went wrong. The message is data for the model; it never ends a run."""

    def __init__(self, message: str, *, tool: str = "", remedies: Sequence[Remedy] = ()) -> None:
        super().__init__(message, remedies=remedies)
        self.tool = tool


class ToolNotFoundError(ToolError):
    """No tool has the name that was called."""


class ToolValidationError(ToolError):
    """An argument is missing or wrong; `field` names it."""

    def __init__(self, message: str, *, tool: str = "", field: str = "") -> None:
        super().__init__(message, tool=tool)
        self.field = field


class AnswerLost(ToolError):
    """A service was asked and its answer did not arrive, or cannot be used: it may bill the call."""


class ServiceUnpaid(ToolError):
    """A hosted service is not asked for whoever calls, since nobody may pay for it."""


class ToolTimeoutError(ToolError):
    """A call took longer than it may."""


class ToolExecutionError(ToolError):
    """A tool failed while it ran."""

    @property
    def cause(self) -> BaseException | None:
        """What the tool raised."""
        return self.__cause__


class ToolRegistrationError(ToolError):
    """A function or class cannot become a tool."""


class MCPToolError(ToolError):
    """A call of a tool of an MCP server failed: it answered with an error, or could not be reached."""


class MCPConnectionError(MCPToolError):
    """An MCP server cannot be reached; `server_url` is its address or its command."""

    def __init__(self, message: str, *, tool: str = "", server_url: str = "") -> None:
        super().__init__(message, tool=tool)
        self.server_url = server_url


class SkillError(ToolError):
    """Something is wrong with a skill; `tool` is what was called."""


class SkillLoadError(SkillError):
    """A skill cannot be read, or lacks what it depends on."""


class SkillNotFoundError(SkillError):
    """No skill has the name that was asked for."""


class SkillAlreadyLoadedError(SkillError):
    """The skill is loaded already."""
