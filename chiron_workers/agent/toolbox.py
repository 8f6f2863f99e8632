import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

import structlog
from psycopg.errors import OutOfMemory, QueryCanceled

from chiron_workers.agent.event_payloads import usage_payload
from chiron_workers.agent.metered_model import MeteredModel, overcharge_of
from chiron_workers.agent.next_call import NextCall
from chiron_workers.agent.paid_commits import PaidCommits
from chiron_workers.agent.run_meter import RunMeter
from chiron_workers.agent.side_model import RunSideModel
from chiron_workers.billing.metered_embedder import metered
from chiron_workers.db.connect import Pool
from chiron_workers.db.outages import is_transient, through_outage
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import KeyRefused, ToolError
from chiron_workers.instruments import record_tool_call
from chiron_workers.model import Model
from chiron_workers.roles import role_of
from chiron_workers.runs.entries import Limit, Reply, ToolCall, ToolResult, storable
from chiron_workers.runs.fence import NewEvent
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.runs.session import Caller, Session
from chiron_workers.runs.tool_results import CUT_CHARS, how_to_read_on
from chiron_workers.runs.turns import Turn
from chiron_workers.settings import Settings
from chiron_workers.skills import Skills
from chiron_workers.skills.instructions import catalogue_lines
from chiron_workers.sources.egress import save_taint
from chiron_workers.states import EventKind
from chiron_workers.store import Store
from chiron_workers.telemetry import spans
from chiron_workers.telemetry.spans import Span
from chiron_workers.toolkit.offers import offered_definitions
from chiron_workers.toolkit.registry import Registry
from chiron_workers.tools.own_tools import OwnTools

log = structlog.get_logger()

CHAR_BYTES_MAX = 4  # that a character has in UTF-8
TOO_MUCH = QueryCanceled, OutOfMemory
KEPT_CHARS = 2_000_000  # of a result that is too long to be shown

Shorten = Callable[[ToolCall, ToolResult], ToolResult]


def _in_full(_call: ToolCall, result: ToolResult) -> ToolResult:
    return result


@dataclass(frozen=True, slots=True)
class Toolbox:
    """Runs tool calls exactly once each: result, writes and events commit together, keyed by the call's id.

    Args:
        pool: What tools read and write through. Where it is not the journal's, no tool takes a connection of the core.
    """

    registry: Registry
    journal: Journal
    pool: Pool
    embedder: Embedder
    settings: Settings
    clients: Callable[[Run], Model]
    skills: Skills = field(default_factory=Skills)
    own_tools: OwnTools | None = None

    async def refresh(self) -> None:
        """Take up tools of the user's folders that are new or changed, for a run that begins or goes on in this worker."""
        if self.own_tools is not None:
            await self.own_tools.refresh()

    def skill_lines(self) -> str:
        """The paragraph of the system prompt that lists the skills which can be loaded."""
        return catalogue_lines(self.skills.catalogue())

    async def forget(self, run: Run) -> None:
        """Drop what this worker keeps in memory for a run."""
        await self.skills.deactivate(run.id)

    def definitions(self, run: Run) -> list[dict[str, Any]]:
        """The definitions of the tools that a run is offered, as the Messages API takes them."""
        return offered_definitions(self.registry, run.role, has_columns=bool(run.columns))

    async def call(
        self,
        run: Run,
        n: int,
        call: ToolCall,
        *,
        limit: Limit | None = None,
        is_fresh: bool = False,
        shorten: Shorten = _in_full,
        turn: Turn | None = None,
        next_call: NextCall | None = None,
    ) -> ToolResult:
        """The result of a call of the n-th entry: the committed one if it has run, an error as data if it fails.

        Args:
            limit: How much of the result is shown; the rest is kept for `read_result`. None: what the settings say.
            is_fresh: The entry was appended in this execution, so the call cannot have run before.
            shorten: What the model is to see of a result, where it has had the same before.
            turn: The calls of the same reply that may put one question together.
            next_call: The model call that follows the results of the reply, for which the last of them reserves.

        Raises:
            LeaseLost: The run is no longer ours; nothing was written.
            KeyRefused: The call asked the run's model, whose server refuses the key; nothing was written.
        """
        chars_max = self.settings.tool_result_chars
        limit = limit or Limit(chars_max, CHAR_BYTES_MAX * chars_max)

        async def attempt() -> ToolResult:
            nonlocal is_fresh
            was_fresh, is_fresh = is_fresh, False  # after an outage nobody knows what was committed
            committed_result = None if was_fresh else await self.journal.read_result(run, n, call)
            result = committed_result or await self._run(run, n, call, limit, shorten, turn, next_call)
            if next_call is not None:
                next_call.note(result)
            return result

        try:
            return await through_outage(attempt)
        finally:
            if turn is not None:
                turn.leave(call.id)

    async def _run(
        self,
        run: Run,
        n: int,
        call: ToolCall,
        limit: Limit,
        shorten: Shorten,
        turn: Turn | None,
        next_call: NextCall | None,
    ) -> ToolResult:
        caller = Caller(
            run.owner,
            run.id,
            run.batch_id,
            call.id,
            run.subject_id,
            limit,
            run.model,
            run.role,
            run.scope,
            run.key_id,
            is_admin=False,
        )
        began = time.monotonic()
        async with Session(self.pool, caller) as session:
            with spans.tool_call(call) as span:
                model = MeteredModel(run, self.clients(run), self.journal.pool, self.settings)
                async with PaidCommits(run, self.journal.pool) as commits:
                    side_model = RunSideModel(model, self.journal, n, call.id, commits)
                    meter = RunMeter(run, self.journal, self.settings, n, call.id, commits)
                    embedder = metered(self.embedder, self.settings, meter)
                    store = Store(session, embedder, side_model, turn, meter)
                    result = shorten(call, await self._outcome(call, store, span))
                    if side_model.refusals:  # the call is made again once the key is accepted
                        raise side_model.refusals[0]
                    result = replace(result, unpriced_services=meter.unpriced_calls)
            await save_taint(session, n=n, result=result.whole or result.text)
            ms = round((time.monotonic() - began) * 1000)
            events = [*session.pending, _returned_event(call, result, ms, side_model.replies, meter, session)]
            advance = None if next_call is None else next_call.advance_with(result)
            is_reserved = await self.journal.settle_call(
                run,
                n,
                call,
                result,
                session,
                ms=ms,
                events=events,
                next_call=advance,
            )
            if next_call is not None and advance is not None:
                next_call.model.note_reserved(is_reserved)
            result = replace(result, overcharge=overcharge_of(side_model.replies))
        name = call.name if self.registry.includes(call.name) else None
        record_tool_call(name, time.monotonic() - began, is_error=result.is_error)
        chars = len(result.text)
        log.debug(
            "tool.returned", name=call.name, call_id=call.id, is_error=result.is_error, ms=ms, chars=chars
        )
        return result

    async def _outcome(self, call: ToolCall, store: Store, span: Span) -> ToolResult:
        try:
            result = await self._execute(call, store)
        except ToolError as error:
            if _ends_execution(error.__cause__):
                raise error.__cause__ from None
            await store.session.rollback()
            result = ToolResult(call.id, storable(str(error)), is_error=True)
            span.returned(result, error.__cause__ or error)
        else:
            span.returned(result)
        return result

    async def _execute(self, call: ToolCall, store: Store) -> ToolResult:
        timeout_s = self.settings.tool_timeout_s
        self._require_role(call.name, store.caller.role)
        data = await self.registry.execute(call.name, store, _arguments_of(call), timeout_s=timeout_s)
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        assert store.caller.shown is not None
        result = _limit_result(call.id, storable(text), store.caller.shown)
        return replace(result, ends_silently=store.session.ends_silently)

    def _require_role(self, name: str, role: str | None) -> None:
        """Raises ToolError for a tool that is there and that runs of this role are not offered."""
        is_allowed = role is None or role_of(role).may_call(name, reserved_for=self.registry.get(name).roles)
        if not is_allowed:
            raise ToolError(f"A run of the role {role} may not call {name}.", tool=name)


def _ends_execution(cause: BaseException | None) -> TypeGuard[BaseException]:
    if isinstance(cause, KeyRefused):
        return True
    # What a query of the call itself may be too large for is data: the model can ask for less.
    return cause is not None and is_transient(cause) and not isinstance(cause, TOO_MUCH)


def _limit_result(call_id: str, text: str, limit: Limit) -> ToolResult:
    if limit.cut(text) == text:
        return ToolResult(call_id, text)
    whole, excerpt = text[:KEPT_CHARS], limit.less(CUT_CHARS).cut(text)
    loss_note = f"\n[Of {len(text):,} characters no more were kept.]" if len(text) > len(whole) else ""
    note = how_to_read_on(call_id, at=len(excerpt), of=len(whole))
    return ToolResult(call_id, excerpt + note, whole=whole + loss_note)


def _returned_event(
    call: ToolCall,
    result: ToolResult,
    ms: int,
    side_replies: Sequence[Reply],
    meter: RunMeter,
    session: Session,
) -> NewEvent:
    data: dict[str, Any] = {
        "call_id": call.id,
        "name": call.name,
        "is_error": result.is_error,
        "ms": ms,
        "chars": len(result.text),
    }
    if result.is_error:
        data["error"] = result.text[:300]
    if session.confirmed_ids:
        data["confirmed"] = len(session.confirmed_ids)
    if side_replies:
        data |= {"model_calls": len(side_replies)} | usage_payload(side_replies)
    return EventKind.TOOL_RETURNED, data | meter.payload()


def _arguments_of(call: ToolCall) -> dict[str, Any]:
    if call.invalid_json is None:
        return call.arguments
    raise ToolError(
        f"The arguments of {call.name} must be an object with one field for each argument, and what came "
        f"is {_fault_of(call.invalid_json)}. Make the call again, with arguments that are whole."
    )


def _fault_of(text: str) -> str:
    try:
        return f"{type(json.loads(text)).__name__} instead"
    except ValueError as error:
        return f"no JSON: {error}"
    except RecursionError:
        return "nested too deeply"
