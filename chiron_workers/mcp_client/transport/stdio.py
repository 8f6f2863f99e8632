import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import structlog
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_PARAMS,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from chiron_workers.mcp_client.config.configuration import ServerConfig
from chiron_workers.mcp_client.transport.answers import read_messages
from chiron_workers.mcp_client.transport.flood_guard import (
    MESSAGE_BYTES_MAX,
    ConnectionEnded,
    Flooded,
    FloodGuard,
)

log = structlog.get_logger()

EXIT_S = 2.0  # for each step: exit by itself, on SIGTERM, on SIGKILL
POLL_S = 0.02
STDERR_LINE_CHARS = 500  # of each line that is logged
STDERR_LINES_MAX = 200  # that are logged of one process
LAST_LINE_CHARS = 200  # of the last line of stderr, in the reason of an exit
CLOSED_PIPE = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)

Inbox = MemoryObjectSendStream[SessionMessage | Exception]
Outbox = MemoryObjectReceiveStream[SessionMessage]


@asynccontextmanager
async def stdio_transport(config: ServerConfig, guard: FloodGuard) -> AsyncIterator[TransportStreams]:
    """A server started as a child process, whose process group is ended with the connection.

    The library's own transport puts no bound on a line, and says neither why a process ended nor what it wrote to stderr.

    Raises:
        ConnectionEnded: The command cannot be started.
    """
    process = await _start(config)
    # No await before the group is entered: a cancellation there would leak the process.
    inbox, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outbox = anyio.create_memory_object_stream[SessionMessage](0)
    pipes = _Pipes(config, guard, process)
    async with anyio.create_task_group() as group:
        group.start_soon(pipes.receive, inbox)
        group.start_soon(pipes.send, outbox, inbox)
        group.start_soon(pipes.log_stderr)
        try:
            yield read, write
        finally:
            pipes.is_closing = True
            with anyio.CancelScope(shield=True):
                read.close()
                write.close()
                await _stop(process)
            group.cancel_scope.cancel()
    for stream in (inbox, read, write, outbox):
        stream.close()


async def _start(config: ServerConfig) -> Process:
    try:
        return await anyio.open_process(
            [config.command, *config.args],
            env=get_default_environment() | dict(config.env),
            cwd=config.cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        place = f" in the folder {config.cwd}" if config.cwd is not None else ""
        raise ConnectionEnded(f"{config.address} cannot be started{place}: {reason}") from error


@dataclass(slots=True)
class _Pipes:
    """The three pipes of a server's process; `open_ids` are those of the requests that it has not answered."""

    config: ServerConfig
    guard: FloodGuard
    process: Process
    open_ids: set[RequestId] = field(default_factory=set)
    last_line: str = ""  # of stderr
    is_closing: bool = False

    async def receive(self, inbox: Inbox) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(Flooded, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with inbox:
                async for line in _lines(self.process.stdout, self.guard):
                    await self._deliver(inbox, line)
                if not self.is_closing:
                    self.guard.end(await self._exit_reason())

    async def send(self, outbox: Outbox, inbox: Inbox) -> None:
        assert self.process.stdin is not None
        async with outbox:
            async for item in outbox:
                # `receive` notices that the process has ended, and why.
                with contextlib.suppress(*CLOSED_PIPE):
                    try:
                        line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    except ValueError:
                        await _refuse(item, inbox)
                    else:
                        self._note(item.message)
                        await self.process.stdin.send(f"{line}\n".encode())

    async def log_stderr(self) -> None:
        assert self.process.stderr is not None
        line_count = 0
        with contextlib.suppress(*CLOSED_PIPE):
            async for chunk in self.process.stderr:
                for line in self.config.redaction(chunk.decode(errors="replace")).splitlines():
                    line_count += 1
                    self.last_line = line.strip()[:STDERR_LINE_CHARS] or self.last_line
                    if line_count <= STDERR_LINES_MAX:
                        log.debug("mcp_server.stderr", server=self.config.name, line=line[:STDERR_LINE_CHARS])

    async def _deliver(self, inbox: Inbox, line: bytes) -> None:
        messages = read_messages(line, self.open_ids)
        if not messages:
            self.guard.count(unsolicited_count=1)  # many servers print to stdout what belongs on stderr
        for message in messages:
            if isinstance(message, JSONRPCResponse | JSONRPCError):
                self.open_ids -= {open_id for open_id in self.open_ids if str(open_id) == str(message.id)}
            await inbox.send(SessionMessage(message))

    def _note(self, message: JSONRPCMessage) -> None:
        match message:
            case JSONRPCRequest(id=request_id):
                self.open_ids.add(request_id)
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": request_id}):
                self.open_ids.discard(request_id)

    async def _exit_reason(self) -> str:
        if not await _wait_for_exit(self.process):
            return "it closed its output"
        output = f"; its last words: {self.last_line[:LAST_LINE_CHARS]}" if self.last_line else ""
        return f"its process ended with {self.process.returncode}{output}"


async def _lines(stdout: ByteReceiveStream, guard: FloodGuard) -> AsyncIterator[bytes]:
    partial = bytearray()
    async for chunk in stdout:
        guard.count(read_bytes=len(chunk))
        *pieces, tail = chunk.split(b"\n")
        for piece in pieces:
            yield bytes(partial + piece)
            partial.clear()
        partial += tail
        if len(partial) > MESSAGE_BYTES_MAX:
            guard.refuse(f"it sent a line of more than {MESSAGE_BYTES_MAX // 1_000_000} MB")


async def _refuse(item: SessionMessage, inbox: Inbox) -> None:
    # The request is answered with an error; an exception would end the connection for all other requests.
    if isinstance(item.message, JSONRPCRequest):
        error = ErrorData(code=INVALID_PARAMS, message="the request cannot be written as JSON")
        await inbox.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=item.message.id, error=error)))


async def _stop(process: Process) -> None:
    """Close its input, wait; then SIGTERM to its group, then SIGKILL: the order that the specification wants."""
    assert process.stdin is not None
    with contextlib.suppress(*CLOSED_PIPE):
        await process.stdin.aclose()
    await _wait_for_exit(process)
    await terminate_posix_process_tree(process, EXIT_S)  # also ends the children that it left behind
    await _wait_for_exit(process)
    with contextlib.suppress(*CLOSED_PIPE):
        await process.aclose()


async def _wait_for_exit(process: Process) -> bool:
    # `wait()` also waits until the pipes are closed, which a child of the server may hold open.
    with anyio.move_on_after(EXIT_S):
        while process.returncode is None:  # noqa: ASYNC110  # no event tells of it
            await anyio.sleep(POLL_S)
    return process.returncode is not None
