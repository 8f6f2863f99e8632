"""The largest prompt and reply of a call, for making calls and for warnings of their cost."""

from collections.abc import Sequence

from chiron_workers.runs.messages import Message, encoded

CONTEXT_TOKENS = 200_000  # of a model's window, where neither a setting nor its server says


def opening_bytes(system: str, tools: Sequence[bytes]) -> int:
    """Bytes of the beginning of a conversation: the system prompt, and each tool's definition as JSON."""
    return len(encoded(system)) + sum(map(len, tools))


def question_bytes(text: str) -> int:
    """Bytes of a question as a content block."""
    return sum(map(len, Message.of("user", [{"type": "text", "text": text}]).blocks))


def reply_tokens(context_tokens: int, *, reply_max: int) -> int:
    """Tokens that a reply may have: `reply_max`, and at most a quarter of the window."""
    return min(reply_max, context_tokens // 4)
