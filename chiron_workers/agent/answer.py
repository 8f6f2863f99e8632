"""The answer of a run: how its last entry becomes one, and the reminders that are sent first if something is missing."""

from dataclasses import dataclass

from chiron_workers.agent.conversation import Conversation
from chiron_workers.agent.event_payloads import SHOWN_CHARS
from chiron_workers.agent.reminders import EMPTY, NO_CALLS, RESULT_MISSING, WRITTEN_CALL
from chiron_workers.agent.written_calls import is_written_call
from chiron_workers.errors import RunFailed
from chiron_workers.problems import SAY_SOMETHING, TRY_AGAIN, check_model
from chiron_workers.roles import HAND_IN_ROWS, STORE_FACTS, role_of
from chiron_workers.runs.entries import Question, Reply, Results
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.leases import Run
from chiron_workers.runs.progress import is_requeued, read_handing_in

REMINDERS_MAX = 2
EMPTY_REPLY = (
    "The model ended its reply without words and without a call, also when it was asked once more. Its server may have dropped "
    "what it wrote."
)
CALL_AS_TEXT = (
    "The model wrote its tool call as text, also when it was asked once more: its server does not read it as a call. Give the "
    "server the model's tool template (llama.cpp: its option jinja; vLLM: enable-auto-tool-choice and tool-call-parser)."
)
NO_TOOL_CALLS = (
    "The model answered without having called a single tool, also when it was reminded, so no fact rests on a source. Its server "
    "may drop tool definitions that its chat template has no place for (llama.cpp: its option jinja; /props shows what the "
    "template supports). A message to the run accepts an answer without."
)
NO_RESULT = (
    "The run stopped without handing in its result by {tool}, though it was reminded {count} times. Trying it again reminds "
    "it once more."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """The last text of a run. An answer that `is_silent` notifies no subscriber."""

    text: str
    is_silent: bool = False


def answer_from(last: Reply | Results, text: str) -> Answer:
    """The answer that the last entry of a run gives.

    Args:
        text: The text of the last reply, with that of the replies which it continues.

    Raises:
        RunFailed: The model refused, or stopped for another reason than its answer.
    """
    if isinstance(last, Results):
        assert last.ending is not None
        return Answer(last.ending.text, is_silent=True)
    if last.is_last_word:
        return Answer(text)
    match last.stop:
        case "refusal":
            raise RunFailed("refusal", f"The model refuses to go on. {last.text[:SHOWN_CHARS]}".strip())
        case "model_context_window_exceeded":
            raise RunFailed("context_window", "The conversation no longer fits the model's context window.")
        case unknown:
            raise RunFailed(
                "stop_reason", f"The model stopped for a reason that is not known here: {unknown}."
            )


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """Checks the last reply of a run, and reminds the model of what is missing."""

    run: Run
    journal: Journal
    conversation: Conversation

    async def remind(self, last: Reply | Results) -> bool:
        """Append a reminder if the result, the rows or the answer is missing; return whether it did.

        Raises:
            RunFailed: The model was reminded before, as often as it may be.
        """
        if not isinstance(last, Reply) or not last.is_last_word:
            return False
        tool = HAND_IN_ROWS if self.run.columns else role_of(self.run.role).result
        return await (self._remind_of_result(tool) if tool else self._ask_for_answer(last))

    async def _remind_of_result(self, tool: str) -> bool:
        """Remind the model to hand in its result with `tool` if it has not. Raises RunFailed like `remind`."""
        reminder = RESULT_MISSING.format(tool=tool)
        handing_in = await read_handing_in(self.journal.pool, self.run, tool=tool, reminder=reminder)
        if handing_in.is_done:
            return False
        # After a resume or a retry the model gets one more reminder.
        if handing_in.reminders >= REMINDERS_MAX and not await is_requeued(self.journal.pool, self.run):
            message = NO_RESULT.format(tool=tool, count=handing_in.reminders)
            raise RunFailed("no_result", message, remedies=(TRY_AGAIN, SAY_SOMETHING))
        await self.conversation.append(Question(reminder))
        return True

    async def _ask_for_answer(self, last: Reply) -> bool:
        """Ask once more after an empty reply, or an answer without any research. Raises RunFailed as `remind`."""
        stagnation, words = self.conversation.stagnation, self.conversation.window.draft.text
        if not words.strip() or last.stop == "tool_use":
            kind, reminder, message = "empty_reply", EMPTY, EMPTY_REPLY
        elif is_written_call(words, stagnation.tool_names):
            kind, reminder, message = "empty_reply", WRITTEN_CALL, CALL_AS_TEXT
        elif self._role_needs_calls() and stagnation.lacks_calls:
            kind, reminder, message = "no_tool_calls", NO_CALLS, NO_TOOL_CALLS
        else:
            return False
        asks_for_calls = reminder == NO_CALLS
        is_reminded = stagnation.last_reminder in (
            (NO_CALLS,) if asks_for_calls else (NO_CALLS, WRITTEN_CALL, EMPTY)
        )
        # After a resume or a retry the model gets one more reminder.
        if is_reminded and not await is_requeued(self.journal.pool, self.run):
            remedies = (check_model(self.run.model), TRY_AGAIN, *([SAY_SOMETHING] if asks_for_calls else []))
            raise RunFailed(kind, message, remedies=remedies)
        await self.conversation.append(Question(reminder))
        return True

    def _role_needs_calls(self) -> bool:
        """Whether an answer without a tool call is worth nothing: the role researches, and can store facts."""
        return role_of(self.run.role).researches and STORE_FACTS in self.conversation.stagnation.tool_names
