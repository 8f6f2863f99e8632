"""What a model call raises when it fails, whatever carries it."""

from collections.abc import Mapping


class StreamCut(Exception):
    """A stream that ended, without an error of its own, before the reply was complete."""


class StreamSilent(StreamCut):
    """A stream that is open and brings nothing."""


class ReplyTooLong(StreamCut):
    """A stream that has brought more than the reply that was asked for can have."""


class NotAStream(StreamCut):
    """A body with status 200 that is a page or a document of a gateway, and no reply of a model."""


class ConnectionBroken(Exception):
    """The SDK has reported a broken connection.

    Args:
        words: What the SDK calls it.
        is_sent: Whether the request may have reached the server.
    """

    def __init__(self, words: str, *, is_sent: bool) -> None:
        super().__init__(words)
        self.is_sent = is_sent


class Unsendable(Exception):
    """A request that cannot be put into HTTP."""


class CannotCall(Exception):
    """The SDK cannot call the model for a reason of its own, such as credentials that it cannot read."""


class StatusError(Exception):
    """A server's refusal: an HTTP status other than 2xx, or an error in mid-stream, where the status says 200.

    Args:
        headers: Of the response; names are found in whatever case.
        body: As JSON, or the text where it is none.
    """

    def __init__(self, status: int, headers: Mapping[str, str], body: object) -> None:
        super().__init__(f"{status}: {body}")
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def type(self) -> str | None:
        """What kind of error it is, as the server says; None if it does not."""
        kind = self._error.get("type")
        return kind if isinstance(kind, str) else None

    @property
    def message(self) -> str:
        """The server's own words."""
        if self._error:
            return str(self._error.get("message", ""))
        if isinstance(self.body, str):
            return self.body or f"Error code: {self.status}"
        return str(self.body) if self.status == 200 else f"Error code: {self.status} - {self.body}"

    @property
    def _error(self) -> Mapping[str, object]:
        error = self.body.get("error") if isinstance(self.body, dict) else None
        return error if isinstance(error, dict) else {}
