"""What a journal holds: the entries of a run, as dataclasses here and as readable JSON in Postgres."""

import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Block = dict[str, Any]  # a content block of the Messages API, carried through as it came
# The one argument of a call whose arguments are no JSON object: their text, as it came.
INVALID_JSON = "INVALID_JSON"
ENDING_STOPS = ("end_turn", "stop_sequence")  # of a reply that ended by itself
# The arguments of the last call may be cut there. With any other stop reason calls are run: not all servers say `tool_use`.
CUT_OFF_STOPS = ("max_tokens", "refusal", "model_context_window_exceeded")


def storable(text: str) -> str:
    """The text as Postgres can keep it: without NUL characters and halves of surrogate pairs."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def object_of(arguments: Any) -> dict[str, Any]:
    """The arguments of a call as the API takes them back: an object, whatever the model wrote."""
    if arguments is None:
        return {}
    return arguments if isinstance(arguments, dict) else {INVALID_JSON: json.dumps(arguments)}


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of a text is shown."""

    chars: int
    bytes: int  # in UTF-8: letters of many bytes take more tokens

    def cut(self, text: str) -> str:
        """The beginning of a text that is within both limits."""
        return text[: self.chars].encode()[: self.bytes].decode(errors="ignore")

    def less(self, chars: int) -> "Limit":
        """What is left when so many plain characters are kept free; never nothing."""
        return Limit(max(1, self.chars - chars), max(4, self.bytes - chars))


@dataclass(frozen=True, slots=True)
class Opening:
    """What an epoch holds fast: model, system prompt and tool definitions never change within it."""

    model: str
    system: str
    tools: tuple[dict[str, Any], ...]
    max_tokens: int
    question: str | None = None  # what the epoch begins with, where that is more than the run's topic
    epoch: int = 1
    draft: str = ""  # an answer that the epoch before left unfinished
    thinking: Block | None = None  # as the Messages API takes it; None: nothing is said of it
    effort: str | None = None
    turns_without_progress: int = 0  # in a row, up to here

    def body(self) -> dict[str, Any]:
        """The entry as JSON; the epoch has a column of its own."""
        body = {
            "model": self.model,
            "system": self.system,
            "tools": list(self.tools),
            "max_tokens": self.max_tokens,
        }
        options = {
            "question": self.question,
            "draft": self.draft or None,
            "thinking": self.thinking,
            "effort": self.effort,
            "turns_without_progress": self.turns_without_progress or None,
        }
        return body | {name: value for name, value in options.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Question:
    """Words from outside: the topic at the start, or a message that continues the conversation."""

    text: str

    def body(self) -> dict[str, Any]:
        """The entry as JSON."""
        return {"text": self.text}


@dataclass(frozen=True, slots=True)
class Compaction:
    """The request for a summary that ends an epoch."""

    text: str

    def body(self) -> dict[str, Any]:
        """The entry as JSON."""
        return {"text": self.text}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply as the API bills them; no two counts overlap."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_write_tokens: int = 0  # for five minutes
    cache_write_1h_tokens: int = 0
    cache_read_tokens: int = 0
    web_searches: int = 0

    @property
    def written_tokens(self) -> int:
        """Tokens written to the prompt cache, for however long."""
        return self.cache_write_tokens + self.cache_write_1h_tokens

    @property
    def tokens(self) -> int:
        """The whole request and its reply: what the next request begins with."""
        return self.input_tokens + self.written_tokens + self.cache_read_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class ReportedCost:
    """What a server says that a reply took, where that is more than was reserved for it and charged."""

    usd: Decimal | None  # at the price of the model that was asked; None: it has no price
    tokens: int

    def to_json(self) -> dict[str, Any]:
        """The amounts as an entry and an event have them."""
        return {"usd": None if self.usd is None else float(self.usd), "tokens": self.tokens}

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> "ReportedCost":
        """The amounts that an entry has."""
        return cls(None if value["usd"] is None else Decimal(str(value["usd"])), value["tokens"])


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool_use block of a reply."""

    id: str
    name: str
    arguments: dict[str, Any]

    @property
    def invalid_json(self) -> str | None:
        """The text of arguments that are no JSON object; None where they are one."""
        text = self.arguments.get(INVALID_JSON) if len(self.arguments) == 1 else None
        return text if isinstance(text, str) else None


@dataclass(frozen=True, slots=True)
class MaxCost:
    """What one model call can cost at most; `usd` is 0 where the model has no price.

    `keeps_budgets` is false where nobody knows what it costs, so that no budget in USD can be kept. `call` is a number that
    no other call of this lease has, so that money is reserved and settled once for it.
    """

    usd: Decimal
    tokens: int
    call: int = 0
    keeps_budgets: bool = True


@dataclass(frozen=True, slots=True)
class Reply:
    """One complete reply of the model, as it came over the wire.

    `problem` says why it cannot be used, if it cannot; `rejected` holds the blocks that are none. It has been paid for all the
    same, and it is no part of what the model is sent.
    """

    content: tuple[Block, ...]
    stop: str
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = None  # None: the price of the model is not known
    model: str = ""
    request_id: str = ""
    reserved: MaxCost | None = None  # what was set aside for it, until the commit settles it
    is_compaction: bool = False  # a summary that ends the epoch; its calls are not run
    problem: str = ""
    rejected: tuple[Any, ...] = ()
    is_usage_unknown: bool = False  # its server does not say what it took: what was reserved counts
    reported: ReportedCost | None = None
    # Before the request that brought it; its event has this, and no entry.
    waited_ms: int = field(default=0, compare=False)

    @property
    def has_counts(self) -> bool:
        """Whether `usage` is what the server counted, and not the most that the call can have taken."""
        return not self.is_usage_unknown and self.reported is None

    @property
    def has_open_calls(self) -> bool:
        """Whether the run goes on with the results of its calls."""
        is_usable = not self.is_compaction and not self.problem
        return is_usable and self.stop not in CUT_OFF_STOPS and bool(self.calls)

    @property
    def is_last_word(self) -> bool:
        """Whether the model meant to say no more: it ended by itself, or for a call that it did not make."""
        is_over = self.stop in ENDING_STOPS or self.stop == "tool_use"
        return is_over and not self.has_open_calls and not self.problem

    @property
    def has_answer(self) -> bool:
        """Whether it ended by itself, with words."""
        return self.is_last_word and self.stop in ENDING_STOPS and bool(self.text.strip())

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the reply, in order."""
        return tuple(
            ToolCall(block["id"], block["name"], object_of(block["input"]))
            for block in self.content
            if block["type"] == "tool_use"
        )

    @property
    def text(self) -> str:
        """The words of the reply."""
        return "\n\n".join(
            block["text"] for block in self.content if block["type"] == "text" and block["text"]
        )

    @property
    def thoughts(self) -> str:
        """What the model lets be known of its thinking: a summary, or nothing."""
        return "\n\n".join(
            block["thinking"]
            for block in self.content
            if block["type"] == "thinking" and isinstance(block.get("thinking"), str) and block["thinking"]
        )

    def body(self) -> dict[str, Any]:
        """The entry as JSON; usage and cost have columns of their own."""
        body = {
            "stop_reason": self.stop,
            "content": list(self.content),
            "model": self.model,
            "request_id": self.request_id,
        }
        if self.problem:
            body |= {"problem": self.problem, "rejected": list(self.rejected)}
        body |= self.doubts()
        return body | {"folds": True} if self.is_compaction else body

    def doubts(self) -> dict[str, Any]:
        """What to know of its usage and cost, as its entry and its event have it; empty where they are what was reported."""
        doubts: dict[str, Any] = {"usage_unknown": True} if self.is_usage_unknown else {}
        return doubts if self.reported is None else doubts | {"reported": self.reported.to_json()}


@dataclass(frozen=True, slots=True)
class SideQuestion:
    """What a tool call asks the run's model, apart from the conversation, or a hosted service."""

    n: int  # the entry that made the call
    call_id: str
    question: str  # a hash of the whole request
    repeat: int  # counts, from 1, how often the call has asked the same


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """What a hosted service answered to a tool call, and what that cost."""

    service: str
    data: Any  # as JSON carries it
    cost_usd: Decimal
    reserved: MaxCost | None = None  # what was set aside for it, until the commit settles it


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call gave back: JSON data as text, or an error the model can act on."""

    call_id: str
    text: str
    is_error: bool = False
    whole: str | None = None  # before it was cut; not read back with the journal
    ends_silently: bool = False  # the run ends with it and bothers nobody
    overcharge: str = (
        ""  # why the run has to pause, by what a server reported for it; not read back with the journal
    )
    unpriced_services: int = 0  # calls of hosted services without a price; not read back with the journal


@dataclass(frozen=True, slots=True)
class Results:
    """The results of all calls of a reply, in their order; read back from tool_results, stored nowhere else."""

    results: tuple[ToolResult, ...]

    @property
    def ending(self) -> ToolResult | None:
        """The result with which the run ends, if one does."""
        return next((result for result in self.results if result.ends_silently), None)


Entry = Opening | Question | Compaction | Reply | Results
