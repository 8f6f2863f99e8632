import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from typing import Any

from chiron_workers.agent.paying import PaidModel
from chiron_workers.agent.roles import first_question, system_prompt
from chiron_workers.agent.toolbox import Toolbox
from chiron_workers.agent.window import Window
from chiron_workers.entries import Entry, Opening, Question, Reply, Results, ToolCall, ToolResult
from chiron_workers.errors import ChironError, RunFailed
from chiron_workers.settings import Settings
from chiron_workers.states import EventKind
from chiron_workers.store.journal import Appended, Journal, Told
from chiron_workers.store.runs import Run

COMMIT_S = 10.0  # for the commit of a reply when its run is cut
SHOWN_ARGUMENTS = 20
SHOWN_CHARS = 300  # of texts and arguments in events


class Stopped(ChironError):
    """The worker was asked to let go of the run; everything paid for is in the journal."""


async def play(
    run: Run,
    journal: Journal,
    model: PaidModel,
    tools: Toolbox,
    settings: Settings,
    must_stop: Callable[[], bool],
) -> Reply:
    """Carry a run forward until the model asks for no more tools; return its last reply.

    Starting, resuming after a crash and continuing a conversation are this one call, since the last entry alone
    says what comes next. An entry is committed before anything is built on it: a crash repeats the one step in
    flight and nothing else.

    Raises:
        LeaseLost: Another worker has the run; stop without writing.
        BudgetSpent: A budget has no room for the next call.
        MoneyReserved: It has none while other calls are in flight.
        RunFailed: The run cannot go on; `kind` says why.
        ModelUnavailable: The model cannot answer now.
        Stopped: `must_stop` said so between two steps.
    """
    scribe = _Scribe(run, journal, await journal.read(run))
    if scribe.latest is None:
        await scribe.open(tools, settings)
    while True:  # ends: max_turns is finite
        if must_stop():
            raise Stopped("The worker is stopping.")
        match scribe.latest:
            case Reply(stop="tool_use", calls=calls) if calls:
                scribe.keep(Results(await _together(run, scribe, tools, calls)))
            case Opening():
                await scribe.append(Question(first_question(run)))
            case Question() | Results() | Reply(stop="pause_turn" | "max_tokens") as entry:
                if not (
                    isinstance(entry, Reply) and entry.stop == "pause_turn"
                ):  # that is sent again as it is
                    await scribe.take_messages()
                scribe.check_turns()
                say = lambda text: journal.say_text(run, text, datetime.now(UTC))  # noqa: E731
                window = scribe.window
                reply = await model.reply(
                    window.request(), prompt_tokens=window.prompt_tokens_max, on_text=say
                )
                await scribe.append(reply, _told(reply, turn=scribe.turns + 1))
            case Reply() as reply:
                if not await scribe.take_messages(ask=True):
                    return _finished(reply)


def _finished(reply: Reply) -> Reply:
    match reply.stop:
        case "end_turn" | "stop_sequence":
            return reply
        case "refusal":
            raise RunFailed("refusal", f"The model refuses to go on. {reply.text[:SHOWN_CHARS]}".strip())
        case "model_context_window_exceeded":
            raise RunFailed("context_window", "The conversation no longer fits the model's context window.")
        case unknown:
            raise RunFailed(
                "stop_reason", f"The model stopped for a reason that is not known here: {unknown}."
            )


class _Scribe:
    def __init__(self, run: Run, journal: Journal, entries: Sequence[Entry]) -> None:
        self._run = run
        self._journal = journal
        self._max_turns = run.max_turns
        self._unread = True
        self.window = Window()
        self.latest: Entry | None = None
        self.last = 0  # number of the last entry in the journal, which counts no results
        self.turns = 0
        self.is_fresh = False  # whether the last reply came in this taking, so that none of its calls has run
        for entry in entries:
            self.keep(entry)

    def keep(self, entry: Entry) -> None:
        self.window.add(entry)
        self.latest = entry
        self.last += not isinstance(entry, Results)
        self.turns += isinstance(entry, Reply)

    async def open(self, tools: Toolbox, settings: Settings) -> None:
        run = self._run
        opening = Opening(
            run.model, system_prompt(run, settings), tuple(tools.definitions()), settings.max_tokens
        )
        await self.append(opening)

    async def append(self, entry: Opening | Question | Reply, told: Sequence[Told] = ()) -> None:
        found = await _even_if_cut(self._journal.append(self._run, entry, n=self.last + 1, told=told))
        self.keep(entry)
        self.is_fresh = isinstance(entry, Reply)
        self._unread = found.unread

    async def take_messages(self, *, ask: bool = False) -> bool:
        if not (self._unread or (ask and await self._journal.has_unread(self._run))):
            return False
        self._unread = False
        taken = await self._journal.take_messages(self._run, n=self.last + 1)
        if taken is not None:
            question, self._max_turns = taken
            self.keep(question)
        return taken is not None

    def check_turns(self) -> None:
        if self.turns >= self._max_turns:
            raise RunFailed(
                "max_turns", f"The run used up its {self._max_turns} turns; submit with a higher --max-turns."
            )


async def _even_if_cut(write: Coroutine[Any, Any, Appended]) -> Appended:
    # What was paid for is not thrown away: a cut waits for the commit.
    task = asyncio.ensure_future(write)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task], timeout=COMMIT_S)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise


async def _together(
    run: Run, scribe: _Scribe, tools: Toolbox, calls: Sequence[ToolCall]
) -> tuple[ToolResult, ...]:
    once = {call.id: call for call in calls}
    try:
        async with asyncio.TaskGroup() as group:
            tasks = {
                key: group.create_task(tools.call(run, scribe.last, call, is_fresh=scribe.is_fresh))
                for key, call in once.items()
            }
    except BaseExceptionGroup as errors:  # the first says why the others were cancelled
        raise errors.exceptions[0] from None
    return tuple(tasks[call.id].result() for call in calls)


def _told(reply: Reply, *, turn: int) -> list[Told]:
    usage = reply.usage
    said: Told = (
        EventKind.MODEL_REPLIED,
        {
            "turn": turn,
            "stop": reply.stop,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cache_write_tokens": usage.written_tokens,
            "cache_read_tokens": usage.cache_read_tokens,
            "cost_usd": None if reply.cost_usd is None else float(reply.cost_usd),
            "text": reply.text[:SHOWN_CHARS],
        },
    )
    if reply.stop != "tool_use":
        return [said]
    return [said, *((EventKind.TOOL_CALLED, _shown(call)) for call in reply.calls)]


def _shown(call: ToolCall) -> dict[str, object]:
    arguments = call.arguments if isinstance(call.arguments, dict) else {"": call.arguments}
    shown = {name: _clipped(value) for name, value in list(arguments.items())[:SHOWN_ARGUMENTS]}
    return {"call_id": call.id, "name": call.name, "arguments": shown}


def _clipped(value: object) -> object:
    text = value if isinstance(value, str) else json.dumps(value)
    return value if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS]
