"""How long a reply may become, whatever its server sends: checked while it is read."""

from dataclasses import dataclass

from chiron_workers.model.faults import ReplyTooLong

# Of what is kept. A token of text has about four bytes; what the server searches is outside of `max_tokens`.
CONTENT_BYTES_A_TOKEN = 64
CONTENT_BYTES_MORE = 8_000_000
# Of the stream. llama.cpp puts about 130 bytes around each token.
STREAM_BYTES_A_TOKEN = 1_000
STREAM_BYTES_MORE = 16_000_000


@dataclass(frozen=True, slots=True)
class ReplyBounds:
    """How many bytes the stream of a reply may have, and how many of them what is kept of it."""

    content: int
    stream: int
    tokens: int

    @classmethod
    def of(cls, max_tokens: int) -> "ReplyBounds":
        """The bounds of a reply that may have so many tokens."""
        return cls(
            CONTENT_BYTES_A_TOKEN * max_tokens + CONTENT_BYTES_MORE,
            STREAM_BYTES_A_TOKEN * max_tokens + STREAM_BYTES_MORE,
            max_tokens,
        )

    def require(self, *, content: int, stream: int) -> None:
        """Raise ReplyTooLong where a reply has more by now."""
        if content > self.content or stream > self.stream:
            kind, bytes_max = ("reply", self.content) if content > self.content else ("stream", self.stream)
            raise ReplyTooLong(
                f"The model's server sends a {kind} of more than {bytes_max:,} bytes where {self.tokens:,} tokens were asked "
                "for. It was cut and may be billed. Check the server before you try it again."
            )
