from typing import Any, Protocol


class _Stream(Protocol):
    async def aclose(self) -> None: ...


class HandshakeTrace:
    """Closes the connection of a request whose TLS handshake is cut: httpx2 leaves a cancelled one to the garbage collector.

    For one request, as its extension `trace`, which httpx2 calls before and after each of its steps.
    """

    def __init__(self) -> None:
        self._stream: _Stream | None = None  # connected, and not yet under TLS

    async def __call__(self, event: str, info: dict[str, Any]) -> None:
        """Note a step."""
        if event.endswith("connect_tcp.complete"):
            self._stream = info["return_value"]
        elif event.endswith("start_tls.complete"):
            self._stream = None
        elif event.endswith("start_tls.failed") and self._stream is not None:
            await self._stream.aclose()
