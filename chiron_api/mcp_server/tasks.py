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

from chiron_api.mcp_server.callers import current_principal, require_scope_for
from chiron_api.mcp_server.lazy_services import DATABASE_AWAY, LazyServices
from chiron_api.mcp_server.research import cancel_research, describe
from chiron_api.mcp_server.tool_adapter import tool_result
from chiron_api.services import Services
from chiron_api.text import count, facts_phrase
from chiron_workers.access.audit import Act, acting, record
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
TASK_TOOL = "start_research"
POLL_MS = 5_000
# In the extension `failed` means that the request broke; a failed run was carried out, and its result says so.
STATUS = {
    RunState.COMPLETED: "completed",
    RunState.FAILED: "completed",
    RunState.CANCELLED: "cancelled",
}
VERSIONS = frozenset(MODERN_PROTOCOL_VERSIONS)

Request = ServerRequestContext[Any, Any]
Summary = BatchSummary | RunSummary


class TaskParams(RequestParams):
    """The parameters of the three requests about a task."""

    task_id: str


class TaskCreated(RootModel[dict[str, Any]]):
    """A task instead of a result; a model without fields of its own, since fastmcp drops fields that are null."""


class ResearchTasks(ServerExtension):
    """Lets clients follow research as a task. There is no queue of tasks: the row of the run or batch is the task."""

    identifier = IDENTIFIER

    def __init__(self, services: LazyServices) -> None:
        self._services = services

    def methods(self) -> Sequence[MethodBinding]:
        """tasks/get, tasks/update and tasks/cancel, of the protocol versions that have extensions."""
        handlers = {"tasks/get": self._get, "tasks/update": self._update, "tasks/cancel": self._cancel}
        return [MethodBinding(name, TaskParams, handler, VERSIONS) for name, handler in handlers.items()]

    async def intercept_tool_call(
        self, params: CallToolRequestParams, context: Context, call_next: ToolCallContinuation
    ) -> ToolCallOutcome:
        """The research as a task, where it was just started for a client that asked for tasks in this request."""
        outcome = await call_next()
        research = outcome.structured_content if isinstance(outcome, ToolResult) else None
        if params.name != TASK_TOOL or not research or context.client_extension_settings(IDENTIFIER) is None:
            return outcome
        run_ids = research["run_ids"]
        target = run_ids[0] if len(run_ids) == 1 else research["batch_id"]
        try:
            services = await self._services.get()
            summary = await find(services.pool, target, owner=current_principal().visible_owner)
        except (ChironError, psycopg.Error):  # the research has started, and the client must learn its ids
            return outcome
        return TaskCreated({"resultType": "task"} | task_of(summary))

    async def _get(self, request: Request, params: TaskParams) -> dict[str, Any]:
        async with self._protocol_errors():
            services, summary = await self._find(request, params)
            return task_of(summary) | await result_of(services, summary)

    async def _update(self, request: Request, params: TaskParams) -> dict[str, Any]:
        # A run asks its starter nothing; the extension wants responses that are not due ignored.
        async with self._protocol_errors():
            await self._find(request, params)
        return {}

    async def _cancel(self, request: Request, params: TaskParams) -> dict[str, Any]:
        async with self._protocol_errors():
            services, summary = await self._find(request, params)
            require_scope_for("cancel_run", services.principal)
            act = Act(services.principal, "runs.cancel", str(summary.id), {"via": "mcp"})
            with suppress(Conflict), acting(act):  # it has ended already
                await cancel_research(services, summary)
                await record(services.pool, act)
        return {}

    async def _find(self, request: Request, params: TaskParams) -> tuple[Services, Summary]:
        if self.client_settings(request) is None:
            data: dict[str, Any] = {"requiredCapabilities": {"extensions": {IDENTIFIER: {}}}}
            message = f"Declare the extension {IDENTIFIER} to work with tasks."
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, message, data)
        principal = current_principal()
        services = (await self._services.get()).of(principal)
        return services, await find(services.pool, params.task_id, owner=principal.visible_owner)

    @asynccontextmanager
    async def _protocol_errors(self) -> AsyncIterator[None]:
        try:
            yield
        except (ConfigurationError, ServiceUnavailable) as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from None
        except (NotFound, UsageError) as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        except psycopg.Error as error:
            if await self._services.check_outage(error):
                raise MCPError(INTERNAL_ERROR, DATABASE_AWAY) from None
            raise


def task_of(summary: Summary) -> dict[str, Any]:
    """A run or a batch as the extension's Task; it is kept until somebody deletes it, so `ttlMs` is null."""
    created_at = time_of(summary.id)
    changed_at = summary.finished_at or summary.started_at or created_at
    task = {
        "taskId": str(summary.id),
        "status": STATUS.get(summary.state, "working"),
        "createdAt": created_at.isoformat(),
        "lastUpdatedAt": max(created_at, changed_at).isoformat(),
        "ttlMs": None,
        "pollIntervalMs": POLL_MS,
    }
    return task if summary.state in STATUS else task | {"statusMessage": _progress(summary)}


async def result_of(services: Services, summary: Summary) -> dict[str, Any]:
    """The `result` of a task that has ended with one: what get_run says. A failed run is a result that is an error."""
    if STATUS.get(summary.state) != "completed":
        return {}
    result = tool_result(await describe(services, summary), chars_max=services.settings.tool_result_chars)
    call_result = CallToolResult(
        content=result.content,
        structured_content=result.structured_content,
        is_error=summary.state is RunState.FAILED,
    )
    return {"result": call_result.model_dump(mode="json", by_alias=True, exclude_none=True)}


def _why(summary: Summary) -> str:
    """The reason of its pause or failure, with remedies."""
    problems = summary.reasons if isinstance(summary, BatchSummary) else [summary.error or {}]
    problem = problems[0] if problems else {}
    helps = "; ".join(remedy["words"] for remedy in problem.get("remedies", ()))
    message = str(problem.get("message") or "somebody asked for it").rstrip(".")
    return f"{message}. What helps: {helps}" if helps else message


def _progress(summary: Summary) -> str:
    counts = f"{facts_phrase(summary.facts, summary.confirmed, summary.cited)} after {count(summary.turns, 'turn')}"
    if summary.state is RunState.PAUSED:
        return f"Paused with {counts}: {_why(summary)}."
    return f"{summary.state.capitalize()}: {counts} so far."
