import contextlib
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import structlog
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_PARAMS, ErrorData, JSONRPCError, JSONRPCRequest, jsonrpc_message_adapter

from chiron_workers.mcp_client.config.configuration import ServerConfig
from chiron_workers.mcp_client.transport.flood_guard import MESSAGE_BYTES_MAX, Ended, Flooded, Meter

log = structlog.get_logger()

EXIT_S = 2.0  # for each step: end by itself, on SIGTERM, on SIGKILL
POLL_S = 0.02
LINE_CHARS = 500  # of what a server writes to stderr, in a line of the log
WORDS_CHARS = 200  # of the last of them, where its end is told
LINES_MAX = 200  # of it, for one process

Inbox = MemoryObjectSendStream[SessionMessage | Exception]
Outbox = MemoryObjectReceiveStream[SessionMessage]


@asynccontextmanager
async def stdio_transport(config: ServerConfig, meter: Meter) -> AsyncIterator[TransportStreams]:
    """A server started as a process of ours, with a group of its own that is ended with the connection.

    The library's own transport puts no bound on a line, and logs each one that is no JSON.

    Raises:
        Ended: The command cannot be started.
    """
    process = await _started(config)
    # No await before the group is entered: a cancellation there would leak the process.
    inbox, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outbox = anyio.create_memory_object_stream[SessionMessage](0)
    wire = _Wire(config, meter, process)
    async with anyio.create_task_group() as group:
        group.start_soon(wire.receive, inbox)
        group.start_soon(wire.send, outbox, inbox)
        group.start_soon(wire.listen_to_stderr)
        try:
            yield read, write
        finally:
            wire.is_wanted = False
            with anyio.CancelScope(shield=True):
                read.close()
                write.close()
                await _end(process)
            group.cancel_scope.cancel()
    for stream in (inbox, read, write, outbox):
        stream.close()


async def _started(config: ServerConfig) -> Process:
    try:
        return await anyio.open_process(
            [config.command, *config.args],
            env=get_default_environment() | dict(config.env),
            cwd=config.cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        where = f" in the folder {config.cwd}" if config.cwd is not None else ""
        raise Ended(f"{config.address} cannot be started{where}: {why}") from error


@dataclass(slots=True)
class _Wire:
    """The three pipes of a server's process."""

    config: ServerConfig
    meter: Meter
    process: Process
    last_words: str = ""
    is_wanted: bool = True  # as long as we do not end it ourselves

    async def receive(self, inbox: Inbox) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(Flooded, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with inbox:
                async for line in _lines(self.process.stdout, self.meter):
                    await _deliver(inbox, self.meter, line)
                if self.is_wanted:
                    self.meter.end(await self._obituary())

    async def send(self, outbox: Outbox, inbox: Inbox) -> None:
        assert self.process.stdin is not None
        async with outbox:
            async for one in outbox:
                # Its end is told where its output ends, and there why.
                with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                    try:
                        line = one.message.model_dump_json(by_alias=True, exclude_unset=True)
                    except ValueError:
                        await _refuse(one, inbox)
                    else:
                        await self.process.stdin.send(f"{line}\n".encode())

    async def listen_to_stderr(self) -> None:
        assert self.process.stderr is not None
        told = 0
        with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for chunk in self.process.stderr:
                for line in self.config.redaction(chunk.decode(errors="replace")).splitlines():
                    told += 1
                    self.last_words = line.strip()[:LINE_CHARS] or self.last_words
                    if told <= LINES_MAX:
                        log.debug("mcp_server.stderr", server=self.config.name, line=line[:LINE_CHARS])

    async def _obituary(self) -> str:
        if not await _ended(self.process):
            return "it closed its output"
        said = f"; its last words: {self.last_words[:WORDS_CHARS]}" if self.last_words else ""
        return f"its process ended with {self.process.returncode}{said}"


async def _lines(stdout: ByteReceiveStream, meter: Meter) -> AsyncIterator[bytes]:
    begun = bytearray()
    async for chunk in stdout:
        meter.count(read_bytes=len(chunk))
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            yield bytes(begun + piece)
            begun.clear()
        begun += rest
        if len(begun) > MESSAGE_BYTES_MAX:
            meter.refuse(f"it sent a line of more than {MESSAGE_BYTES_MAX // 1_000_000} MB")


async def _deliver(inbox: Inbox, meter: Meter, line: bytes) -> None:
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        meter.count(unasked=1)  # many servers print to stdout what belongs on stderr
        return
    await inbox.send(SessionMessage(message))


async def _refuse(unsendable: SessionMessage, inbox: Inbox) -> None:
    # The answer of its own request: an exception here would end the connection for every other one.
    if isinstance(unsendable.message, JSONRPCRequest):
        error = ErrorData(code=INVALID_PARAMS, message="the request cannot be written as JSON")
        await inbox.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=unsendable.message.id, error=error)))


async def _end(process: Process) -> None:
    """Close its input, wait; then SIGTERM to its group, then SIGKILL: the order that the specification wants."""
    assert process.stdin is not None
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    if not await _ended(process):
        _signal(process, signal.SIGTERM)
        if not await _ended(process):
            _signal(process, signal.SIGKILL)
            await _ended(process)
    _signal(process, signal.SIGKILL)  # what it started itself and left behind
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.aclose()


async def _ended(process: Process) -> bool:
    # `wait()` also waits until the pipes are closed, which a child of the server may hold open.
    with anyio.move_on_after(EXIT_S):
        while process.returncode is None:  # noqa: ASYNC110  # nothing else tells of it
            await anyio.sleep(POLL_S)
    return process.returncode is not None


def _signal(process: Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
