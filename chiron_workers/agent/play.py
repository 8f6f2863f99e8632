import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import psycopg
import structlog

from chiron_workers.agent.answer import Answer, AnswerCheck, answer_from
from chiron_workers.agent.compaction import (
    COMPACTION_REQUEST,
    SHORTENED_SKILL,
    WindowShares,
    epoch_question,
    size_limit,
)
from chiron_workers.agent.conversation import Conversation
from chiron_workers.agent.event_payloads import reply_events
from chiron_workers.agent.metered_model import MeteredModel, overcharge_of
from chiron_workers.agent.next_call import NextCall
from chiron_workers.agent.reminders import TRY_ANOTHER_WAY
from chiron_workers.agent.stagnation import STUCK_TURNS
from chiron_workers.agent.toolbox import Toolbox
from chiron_workers.agent.window import TEXTS_KEPT
from chiron_workers.errors import ChironError, NoProgress, Overcharged, RunFailed, WindowExceeded
from chiron_workers.model import Request
from chiron_workers.problems import CONTINUE, SAY_SOMETHING, check_model
from chiron_workers.roles import background_of, first_question, system_prompt
from chiron_workers.runs.entries import (
    Compaction,
    Entry,
    Limit,
    Opening,
    Question,
    Reply,
    Results,
    ToolCall,
    ToolResult,
)
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.runs.loaded_skills import LoadedSkill, loaded_skills_of
from chiron_workers.runs.notes import notes_of
from chiron_workers.runs.progress import is_requeued
from chiron_workers.runs.turns import ASKING_TOOLS, Turn
from chiron_workers.settings import Settings

log = structlog.get_logger()

MALFORMED_REPLY = (
    "The model's server sent a complete reply that cannot be used: {problem}. The reply is in the journal and is paid "
    "for. Check the server; trying the run again asks it once more."
)
# Of one reply. Thousands at the same time would all stand before other runs for a connection to Postgres.
CALLS_AT_ONCE = 32
NO_PROGRESS = (
    "The run made no progress in {turns} turns: no result that is new, and no answer. {trouble} See whether the model can use "
    "tools. The run can continue as it is, or with a message that says what to do instead."
)
# What a reply that Postgres or JSON cannot hold raises.
UNSTORABLE = (
    psycopg.DataError,
    psycopg.errors.ProgramLimitExceeded,
    psycopg.errors.StatementTooComplex,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RecursionError,
)


class Stopped(ChironError):
    """The run is to be released; everything paid for is in the journal."""


async def play(
    run: Run,
    journal: Journal,
    model: MeteredModel,
    tools: Toolbox,
    settings: Settings,
    is_stop_requested: Callable[[], bool],
) -> Answer:
    """Carry a run forward until the model asks for no more tools, or a tool ends it; return its last words.

    Starting, resuming after a crash and continuing a conversation are this one call, since the last entry alone
    says what comes next. An entry is committed before anything is built on it: a crash repeats the one step in
    flight and nothing else.

    Raises:
        LeaseLost: Another worker has the run; stop without writing.
        BudgetSpent: A budget has no room for the next call.
        PriceUnknown: Nobody knows what the next call costs, and a budget binds it.
        MoneyReserved: It has none while other calls are in flight.
        Overcharged: A server reports more for a call than it can cost; the call is committed.
        RunFailed: The run cannot go on; `kind` says why.
        NoProgress: Its last turns brought nothing new.
        KeyRefused: The model's server refuses the key.
        ModelUnavailable: The model cannot answer now.
        Stopped: `is_stop_requested` was true between two steps.
    """
    await tools.refresh()
    conversation = Conversation(run, journal, await journal.read(run))
    step = _Step(run, journal, model, tools, settings, conversation, is_stop_requested)
    answer_check = AnswerCheck(run, journal, conversation)
    await step.pause_after_crash()
    while True:  # ends: max_turns is finite
        if is_stop_requested():
            raise Stopped("The worker is stopping.")
        match conversation.latest:
            case None:
                await step.begin_epoch(epoch=run.epoch)
            case Opening(question=question):
                await conversation.append(Question(question or await step.first_question()))
            case Compaction():
                await step.summarise()
            case Reply(is_compaction=True) as summary:
                await step.continue_with("" if summary.stop == "refusal" else summary.text)
            case Reply(problem=problem) if problem:
                await step.reply_after(problem)
            case Reply(has_open_calls=True, calls=calls):
                conversation.add(Results(await step.results(calls)))
            case Reply(stop="model_context_window_exceeded") if conversation.window.replies > 1:
                await conversation.append(Compaction(COMPACTION_REQUEST))
            case Question() | Results(ending=None) | Reply(stop="pause_turn" | "max_tokens") as entry:
                await step.reply_to(entry)
            case Reply() | Results() as last:
                is_continued = await conversation.take_messages(look=True) or await answer_check.remind(last)
                if not is_continued:
                    return answer_from(last, conversation.window.draft.text)


@dataclass(frozen=True, slots=True)
class _Step:
    """The steps of a run; `play` decides which comes next."""

    run: Run
    journal: Journal
    model: MeteredModel
    tools: Toolbox
    settings: Settings
    conversation: Conversation
    is_stop_requested: Callable[[], bool]

    async def window_shares(self) -> WindowShares:
        return WindowShares.of(await self.model.context_tokens(), self.settings.max_tokens)

    async def begin_epoch(self, *, epoch: int, question: str | None = None, draft: str = "") -> None:
        run, shares = self.run, await self.window_shares()
        # The tools stay as they are for the whole run.
        tools = self.conversation.window.tools or tuple(self.tools.definitions(self.run))
        loaded_skills = await loaded_skills_of(self.journal.pool, run.id)
        system = system_prompt(run, self.settings, skills=self.tools.skill_lines(), loaded=loaded_skills)
        thinking = await self.model.thinking(budget_tokens=shares.thinking)
        frozen = run.model, system, tools, shares.reply
        await self.conversation.append(
            Opening(
                *frozen,
                question,
                epoch,
                draft,
                thinking=thinking,
                effort=run.effort,
                turns_without_progress=self.conversation.stagnation.turns,
            )
        )

    async def reply_to(self, entry: Entry | None) -> None:
        conversation, is_paused = self.conversation, isinstance(entry, Reply) and entry.stop == "pause_turn"
        if not is_paused:  # a paused reply is sent again as it is
            await conversation.take_messages()
        if conversation.stagnation.is_stuck:
            await self.go_on_though_stuck()
            return
        is_full = conversation.window.prompt_tokens > (await self.window_shares()).prompt
        if is_full and conversation.window.replies and not is_paused:
            await conversation.append(Compaction(COMPACTION_REQUEST))
            return
        try:
            await self._call_model(conversation.window.request())
        except WindowExceeded as error:
            if not conversation.window.replies:  # there is nothing to summarise
                raise
            self._recount(error)
            await conversation.append(Compaction(COMPACTION_REQUEST))

    async def go_on_though_stuck(self) -> None:
        """Reset the count of turns without progress if the run was resumed; else raise NoProgress."""
        if not await is_requeued(self.journal.pool, self.run):
            trouble = self.conversation.stagnation.trouble
            remedies = (check_model(self.run.model), CONTINUE, SAY_SOMETHING)
            raise NoProgress(NO_PROGRESS.format(turns=STUCK_TURNS, trouble=trouble), remedies=remedies)
        await self.conversation.append(Question(TRY_ANOTHER_WAY))

    async def pause_after_crash(self) -> None:
        """Raise Overcharged if a worker died between the commit of an overcharged reply and the pause that it causes."""
        latest = self.conversation.latest
        overcharge = overcharge_of([latest]) if isinstance(latest, Reply) else ""
        if overcharge and not await is_requeued(self.journal.pool, self.run):
            raise Overcharged(overcharge)

    async def reply_after(self, problem: str) -> None:
        # After a crash the same reply fails the run again, from the journal; only who asks for it pays once more.
        is_asked_again = await is_requeued(self.journal.pool, self.run)
        if not is_asked_again and not await self.conversation.take_messages(look=True):
            raise RunFailed("malformed_reply", MALFORMED_REPLY.format(problem=problem))
        await self.reply_to(self.conversation.latest)

    async def first_question(self) -> str:
        return first_question(self.run, await background_of(self.journal.pool, self.run))

    async def summarise(self) -> None:
        for part in (1, 2):  # the second request may have half the tokens
            shares = await self.window_shares()
            prompt_tokens = shares.last_prompt // part
            request = self.conversation.window.last_request(
                prompt_tokens=prompt_tokens, reply_tokens=shares.summary
            )
            try:
                await self._call_model(request, is_compaction=True)
            except WindowExceeded as error:
                self._recount(error)
            else:
                return
        await self.continue_with("")

    async def continue_with(self, summary: str) -> None:
        conversation, window, shares = self.conversation, self.conversation.window, await self.window_shares()
        summary_limit, text_limit = (
            Limit(size, size) for size in (shares.summary * 5, shares.summary * 5 // TEXTS_KEPT)
        )
        draft = window.draft.text if window.draft.seam is not None else ""
        question = epoch_question(
            await self.first_question(),
            summary=summary_limit.cut(summary).strip(),
            last_words=[text_limit.cut(text) for text in window.last_words],
            notes=await notes_of(self.journal.pool, self.run.id),
            skills=_shorten_skills(
                await loaded_skills_of(self.journal.pool, self.run.id), bytes_max=shares.skill_bytes
            ),
            messages=window.unanswered_questions,
            draft=draft[-text_limit.chars :],
        )
        await self.begin_epoch(epoch=conversation.epoch + 1, question=question, draft=draft)

    async def results(self, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        calls_by_id = {call.id: call for call in calls}
        bytes_max = (await self.window_shares()).result_bytes(len(calls_by_id))
        limit = Limit(self.settings.tool_result_chars, bytes_max)
        next_call = None
        if not self.conversation.is_last_turn and not self.is_stop_requested():
            next_call = NextCall.after(calls_by_id, model=self.model, window=self.conversation.window)
        call_one = partial(
            self.tools.call,
            limit=limit,
            is_fresh=self.conversation.is_fresh,
            shorten=self.conversation.stagnation.shortened,
            next_call=next_call,
        )
        results: dict[str, ToolResult] = {}
        calls_in_order = list(calls_by_id.values())
        for first in range(0, len(calls_in_order), CALLS_AT_ONCE):
            results |= await self._results_of(calls_in_order[first : first + CALLS_AT_ONCE], call_one)
        _require_fair(next((result.overcharge for result in results.values() if result.overcharge), ""))
        return tuple(results[call.id] for call in calls)

    async def _results_of(
        self, calls: Sequence[ToolCall], call_one: Callable[..., Coroutine[Any, Any, ToolResult]]
    ) -> dict[str, ToolResult]:
        # Those that ask together wait for each other, and so run at the same time.
        turn = Turn(call.id for call in calls if call.name in ASKING_TOOLS)
        n = self.conversation.last_n
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {call.id: group.create_task(call_one(self.run, n, call, turn=turn)) for call in calls}
        except BaseExceptionGroup as errors:  # the first says why the others were cancelled
            raise errors.exceptions[0] from None
        return {call_id: task.result() for call_id, task in tasks.items()}

    async def _call_model(self, request: Request, *, is_compaction: bool = False) -> None:
        """Make the next call of the conversation: the one place that does."""
        conversation = self.conversation
        conversation.check_turns()
        prompt_tokens = conversation.window.prompt_tokens_max
        reply = await self.model.reply(
            request,
            prompt_tokens=prompt_tokens,
            on_text=None if is_compaction else self._publish_text,  # a summary is no part of the answer
            is_heard=self.journal.audience_of(self.run),
        )
        reply, turn = replace(reply, is_compaction=is_compaction), conversation.turns + 1
        try:
            await conversation.append(reply, reply_events(reply, turn=turn))
        except UNSTORABLE as error:
            log.exception("model.reply_unstorable", run_id=str(self.run.id))
            reply = replace(
                reply, content=(), rejected=(), problem=f"it cannot be stored ({type(error).__name__})"
            )
            await conversation.append(reply, reply_events(reply, turn=turn))
        await self.model.end_refusal()
        _require_fair(overcharge_of([reply]))

    def _publish_text(self, text: str) -> None:
        self.journal.publish_text(self.run, text, datetime.now(UTC))

    def _recount(self, error: WindowExceeded) -> None:
        window = self.conversation.window
        tokens_max = error.tokens_max or window.prompt_tokens
        self.model.shrink_context(tokens_max)
        window.recount(error.tokens_sent, more_than=tokens_max)


def _require_fair(overcharge: str) -> None:
    if overcharge:
        raise Overcharged(overcharge)


def _shorten_skills(skills: Sequence[LoadedSkill], *, bytes_max: int) -> list[str]:
    sizes = [len(skill.body.encode()) for skill in skills]
    skill_bytes = size_limit(sizes, by=max(0, sum(sizes) - bytes_max))
    return [
        skill.body
        if size <= skill_bytes
        else f"{Limit(skill_bytes, skill_bytes).cut(skill.body)}\n{SHORTENED_SKILL.format(name=skill.name)}"
        for skill, size in zip(skills, sizes, strict=True)
    ]
