"""Classifies failed model calls. The only place that knows the errors of the API."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp

from chiron_workers.errors import RunFailed
from chiron_workers.model.context_sizes import window_exceeded
from chiron_workers.model.faults import (
    CannotCall,
    ConnectionBroken,
    NotAStream,
    ReplyTooLong,
    StatusError,
    StreamCut,
    Unsendable,
)

HOLD_MAX_S = 3600.0  # whatever a server asks for: it may have changed its mind by then
SPEND_HOLD_S = 900.0  # a spend limit does not heal by itself within seconds
RAMP_S = 60.0
REFUSAL_S = 61.0  # until a refused key is tried again, by one run; more than a call waits for in its slot

# What an error is, in the body of a refusal and in mid-stream, where the status says 200.
RETRY_TYPES = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error"})
FULL_TYPES = frozenset({"overloaded_error", "rate_limit_error"})
FULL_STATUSES = (429, 529)
# What the account may not spend comes as 402, as 429 with one of these codes, or as 400 with these words.
SPEND_LIMITS = ("spend_limit_reached", "billing_unavailable", "credit balance is too low")
RAMP_LIMIT = "ramp_limit_exceeded"  # 429: usage may not grow so fast

# LiteLLM's proxy answers 400 with this type for a key that is not its own, if it has no database of keys.
UNKNOWN_KEY = "no_db_connection"
MEND_KEY = "Set ANTHROPIC_API_KEY, or CHIRON_MODEL=offline to do without."

UNSENDABLE = (
    "The request cannot be sent: a header or the text holds characters that do not belong there. "
    "Check ANTHROPIC_API_KEY and ANTHROPIC_CUSTOM_HEADERS for line breaks."
)

# A gateway answers these for a server that it asked and that may be at work.
GATEWAY_FAULTS = (502, 504, 520, 524)
# With one of these as its cause a request never left.
NEVER_SENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ConnectionTimeoutError,
    aiohttp.ClientHttpProxyError,  # a proxy that opens no tunnel
    aiohttp.NonHttpUrlClientError,
    aiohttp.InvalidURL,
)

# What a broken connection or a broken stream raises: the reply is not complete, so the call may be made again.
STREAM_FAULTS = (
    StreamCut,
    ConnectionBroken,
    aiohttp.ClientError,
    ValueError,  # an event whose text cannot be read (UnicodeDecodeError)
    TimeoutError,
    ConnectionError,
    RuntimeError,  # aiohttp on a session that is closed
)
CALL_FAULTS = (StatusError, Unsendable, CannotCall, *STREAM_FAULTS)  # whatever may go wrong with a call


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed try: another may follow after `seconds`, or after the usual backoff; none if `fatal` says why.

    `is_full` where the model turns everybody away (429, 529, a gateway's page), not this request; `is_key_refused` where it does
    so for the key that everybody has. `maybe_billed` where no reply came
    although the model may have been at work: a cut stream, a read timeout. A refusal with an HTTP status costs
    nothing, nor does a connection that never came about.
    """

    reason: str
    seconds: float | None = None
    is_full: bool = False
    maybe_billed: bool = False
    fatal: RunFailed | None = None
    is_key_refused: bool = False


def classify(error: Exception) -> Failure:
    """Classify an error of a model call."""
    if isinstance(error, RunFailed):
        return Failure(str(error), fatal=error)
    if isinstance(error, StatusError):
        return _classify_status(error)
    if isinstance(error, Unsendable | UnicodeEncodeError):
        return _fatal("request", UNSENDABLE)
    if isinstance(error, ReplyTooLong):  # and would be as long the next time
        return _fatal("reply_too_long", str(error), maybe_billed=True)
    if isinstance(error, NotAStream):
        return Failure(str(error), is_full=True)
    if isinstance(error, STREAM_FAULTS):
        name = str(error) if isinstance(error, ConnectionBroken) else type(error).__name__
        reason = f"The connection to the model broke ({name})."
        return Failure(reason, maybe_billed=not _was_never_sent(error))
    return _fatal("credentials", f"The model cannot be called: {error} {MEND_KEY}")


def _was_never_sent(error: BaseException | None) -> bool:
    if isinstance(error, ConnectionBroken):
        return not error.is_sent
    while error is not None:
        if isinstance(error, NEVER_SENT):
            return True
        error = error.__cause__
    return False


def _classify_status(error: StatusError) -> Failure:
    status, words, body = error.status, _words(error), str(error.body)
    is_streamed = status == 200
    retry_after_s = retry_after_s_of(error.headers)
    if status == 402 or any(limit in body for limit in SPEND_LIMITS):
        reason = f"A spend limit of the account is reached: {words}"
        return Failure(reason, retry_after_s or SPEND_HOLD_S, is_full=True, maybe_billed=is_streamed)
    if RAMP_LIMIT in body:
        return Failure(f"The model answers {status}: {words}", retry_after_s or RAMP_S, is_full=True)
    is_transient = status in (408, 409, 429) or status >= 500
    asks_for_retry = error.headers.get("x-should-retry") == "true"
    if is_transient or (is_streamed and error.type in RETRY_TYPES) or asks_for_retry:
        return Failure(
            f"The model answers {error.type if is_streamed else status}: {words}",
            retry_after_s,
            is_full=status in FULL_STATUSES or (is_streamed and error.type in FULL_TYPES),
            maybe_billed=is_streamed or status in GATEWAY_FAULTS,
        )
    if 300 <= status < 400:
        target = error.headers.get("location") or "nowhere"
        reason = f"The model's server redirects ({status}) to {target[:200]}. Set ANTHROPIC_BASE_URL to where the model is."
        return Failure(reason, is_full=True)
    if status in (401, 403) or (status == 400 and error.type == UNKNOWN_KEY):
        reason = f"The model refuses the key ({status}): {words} Check ANTHROPIC_API_KEY."
        return Failure(reason, REFUSAL_S, is_full=True, is_key_refused=True)
    if status == 404:
        return _fatal(
            "model", f"The model is not there: {words} Check the run's model and ANTHROPIC_BASE_URL."
        )
    if excess := window_exceeded(words):
        return Failure(str(excess), maybe_billed=is_streamed, fatal=excess)
    return _fatal("request", f"The model refuses the request: {words}", maybe_billed=is_streamed)


def _fatal(kind: str, message: str, *, maybe_billed: bool = False) -> Failure:
    return Failure(message, maybe_billed=maybe_billed, fatal=RunFailed(kind, message))


def _words(error: StatusError) -> str:
    return error.message[:500].rstrip(".") + "."


def retry_after_s_of(headers: Mapping[str, str]) -> float | None:
    """How many seconds a server asks to wait, an hour at most; None if it does not say.

    `retry-after-ms`, then `retry-after` in seconds or as a date, then the latest reset among the rate limits that
    have nothing left. Dates are read by the server's own clock, its `date` header.
    """
    for seconds in (
        _number(headers.get("retry-after-ms"), unit_s=0.001),
        _number(headers.get("retry-after"), unit_s=1),
        _seconds_until(_http_date(headers.get("retry-after")), headers),
        _seconds_until(_reset(headers), headers),
    ):
        if seconds is not None and seconds >= 0:
            return min(seconds, HOLD_MAX_S)
    return None


def _number(text: str | None, *, unit_s: float) -> float | None:
    try:
        number = float(text or "") * unit_s
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _http_date(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _seconds_until(then: datetime | None, headers: Mapping[str, str]) -> float | None:
    if then is None:
        return None
    now = _http_date(headers.get("date")) or datetime.now(UTC)
    return max(0.0, (then - now).total_seconds())


def _reset(headers: Mapping[str, str]) -> datetime | None:
    resets = []
    for name, remaining_text in headers.items():
        limit = name.lower().removesuffix("-remaining")
        if (
            limit.startswith("anthropic-ratelimit-")
            and limit != name.lower()
            and remaining_text.strip() == "0"
        ):
            try:
                at = datetime.fromisoformat(headers.get(f"{limit}-reset", ""))
            except ValueError:
                continue
            resets.append(at if at.tzinfo else at.replace(tzinfo=UTC))
    return max(resets, default=None)
