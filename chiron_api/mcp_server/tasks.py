"""The tasks extension: start_research as a task whose id is the run's, or the batch's where there are several topics."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import psycopg
from fastmcp.server.context import Context
from fastmcp.server.extensions import (
    MethodBinding,
    ServerExtension,
    ToolCallContinuation,
    ToolCallOutcome,
)
from fastmcp.tools import ToolResult
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CallToolRequestParams,
    CallToolResult,
    RequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import RootModel

from chiron_api.http.requests import Services
from chiron_api.mcp_server.lazy_services import AWAY, LateServices
from chiron_api.mcp_server.research import cancelled, document
from chiron_api.mcp_server.tool_adapter import shown
from chiron_workers.batches.summaries import BatchSummary, RunSummary, find
from chiron_workers.errors import (
    ChironError,
    ConfigurationError,
    Conflict,
    NotFound,
    ServiceUnavailable,
    UsageError,
)
from chiron_workers.ids import time_of
from chiron_workers.states import RunState

IDENTIFIER = "io.modelcontextprotocol/tasks"
STARTS = "start_research"
POLL_MS = 5_000
# The extension keeps `failed` for requests that broke; a run that failed was carried out, and its result says so.
STATUS = {
    RunState.COMPLETED: "completed",
    RunState.FAILED: "completed",
    RunState.CANCELLED: "cancelled",
}
VERSIONS = frozenset(MODERN_PROTOCOL_VERSIONS)

Request = ServerRequestContext[Any, Any]
Target = BatchSummary | RunSummary


class TaskParams(RequestParams):
    """Which task is meant."""

    task_id: str


class Created(RootModel[dict[str, Any]]):
    """A task instead of a result; a model without fields of its own, since fastmcp drops fields that are null."""


class ResearchTasks(ServerExtension):
    """Lets clients that know tasks follow research as one, without a queue of its own: the row is the task."""

    identifier = IDENTIFIER

    def __init__(self, services: LateServices) -> None:
        self._services = services

    def methods(self) -> Sequence[MethodBinding]:
        """tasks/get, tasks/update and tasks/cancel, of the protocol versions that have extensions."""
        handlers = {"tasks/get": self._get, "tasks/update": self._update, "tasks/cancel": self._cancel}
        return [MethodBinding(name, TaskParams, handler, VERSIONS) for name, handler in handlers.items()]

    async def intercept_tool_call(
        self, params: CallToolRequestParams, context: Context, call_next: ToolCallContinuation
    ) -> ToolCallOutcome:
        """What was started, as a task for a client that asked for tasks in this request."""
        outcome = await call_next()
        started = outcome.structured_content if isinstance(outcome, ToolResult) else None
        if params.name != STARTS or not started or context.client_extension_settings(IDENTIFIER) is None:
            return outcome
        run_ids = started["run_ids"]
        target = run_ids[0] if len(run_ids) == 1 else started["batch_id"]
        try:
            found = await find((await self._services.get()).pool, target)
        except (ChironError, psycopg.Error):  # it is started all the same, and the client must learn the ids
            return outcome
        return Created({"resultType": "task"} | state_of(found))

    async def _get(self, request: Request, params: TaskParams) -> dict[str, Any]:
        async with self._answering():
            services, found = await self._find(request, params)
            return state_of(found) | await outcome_of(services, found)

    async def _update(self, request: Request, params: TaskParams) -> dict[str, Any]:
        # A run asks its starter nothing, so no response can be due: any is ignored, as the extension says.
        async with self._answering():
            await self._find(request, params)
        return {}

    async def _cancel(self, request: Request, params: TaskParams) -> dict[str, Any]:
        async with self._answering():
            services, found = await self._find(request, params)
            with suppress(Conflict):  # it has ended already, which is what was asked for
                await cancelled(services.pool, found.id)
        return {}

    async def _find(self, request: Request, params: TaskParams) -> tuple[Services, Target]:
        if self.client_settings(request) is None:
            needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {IDENTIFIER: {}}}}
            message = f"Declare the extension {IDENTIFIER} to work with tasks."
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, message, needed)
        services = await self._services.get()
        return services, await find(services.pool, params.task_id)

    @asynccontextmanager
    async def _answering(self) -> AsyncIterator[None]:
        try:
            yield
        except (ConfigurationError, ServiceUnavailable) as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        except (NotFound, UsageError) as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        except psycopg.Error as error:
            if await self._services.are_away(error):
                raise MCPError(INTERNAL_ERROR, AWAY) from None
            raise


def state_of(found: Target) -> dict[str, Any]:
    """A run or a batch as the extension's Task; it is kept until somebody deletes it, so `ttlMs` is null."""
    created_at = time_of(found.id)
    changed_at = found.finished_at or found.started_at or created_at
    state = {
        "taskId": str(found.id),
        "status": STATUS.get(found.state, "working"),
        "createdAt": created_at.isoformat(),
        "lastUpdatedAt": max(created_at, changed_at).isoformat(),
        "ttlMs": None,
        "pollIntervalMs": POLL_MS,
    }
    return state if found.state in STATUS else state | {"statusMessage": _progress(found)}


async def outcome_of(services: Services, found: Target) -> dict[str, Any]:
    """The `result` of a task that has ended with one: what get_run says. A failed run is a result that is an error."""
    if STATUS.get(found.state) != "completed":
        return {}
    result = shown(await document(services.pool, found), chars_max=services.settings.tool_result_chars)
    wire = CallToolResult(
        content=result.content,
        structured_content=result.structured_content,
        is_error=found.state is RunState.FAILED,
    )
    return {"result": wire.model_dump(mode="json", by_alias=True, exclude_none=True)}


def _progress(found: Target) -> str:
    counted = f"{found.facts:,} facts after {found.turns:,} turns"
    if found.state is RunState.PAUSED:
        return f"Paused with {counted}: its budget is spent, or somebody asked for it; `chiron resume {found.id}` goes on."
    return f"{found.state.capitalize()}: {counted} so far."
