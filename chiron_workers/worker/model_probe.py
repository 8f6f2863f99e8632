"""Two small calls that show whether a model can carry a run: does it call tools, does it stop, how large is its window?"""

from dataclasses import dataclass

from chiron_workers.agent.written_calls import is_written_call
from chiron_workers.errors import ChironError
from chiron_workers.model import Model, Request
from chiron_workers.model.admission import Admission
from chiron_workers.runs.entries import Block, Reply
from chiron_workers.runs.messages import Message, encoded
from chiron_workers.settings import OFFLINE_MODEL, Settings

TOOL = "report_number"
DEFINITION = {
    "name": TOOL,
    "description": "Report a number.",
    "input_schema": {
        "type": "object",
        "properties": {"number": {"type": "integer", "description": "The number."}},
        "required": ["number"],
    },
}
SYSTEM = "You are tested. Do exactly what you are told, and then stop."
CALL_QUESTION = f"Report the number 7 with the tool {TOOL}. Do not write anything else."
STOP_QUESTION = "Answer with the word ready, and nothing else."
REPLY_TOKENS = 1_000  # so many that a model which thinks first has room for it
SHOWN_CHARS = 80
WINDOW_MIN = 8_000  # in which a run's prompt, results and replies have room
TEMPLATE_ADVICE = (
    "Give its server the model's tool template (llama.cpp: --jinja, then /props shows what the template supports; vLLM: "
    "--enable-auto-tool-choice and --tool-call-parser), or take another model."
)
STOP_ADVICE = "Its server may lack the model's end token or chat template; runs would be cut at CHIRON_MAX_TOKENS each time."
WINDOW_ADVICE = "Set CHIRON_CONTEXT_TOKENS to what the server has room for."


@dataclass(frozen=True, slots=True)
class Finding:
    """What the probe found out about one thing; `advice` says what to do where that is a problem."""

    name: str
    finding: str
    advice: str = ""


async def probe_model(settings: Settings, name: str) -> list[Finding]:
    """Ask a model to call a tool and then to say a word; both calls cost what the model costs."""
    if name == OFFLINE_MODEL:
        return [Finding("model", "The offline researcher is part of Chiron: there is nothing to probe.")]
    settings = settings.model_copy(update={"model_tries": 1})
    admission = Admission(settings)
    model = Model(settings, admission)
    try:
        return await _findings(model, settings, name)
    finally:
        await model.close()
        await admission.close()


async def _findings(model: Model, settings: Settings, name: str) -> list[Finding]:
    messages = [_message("user", [{"type": "text", "text": CALL_QUESTION}])]
    try:
        first = await model.reply(_request(name, messages), on_text=None)
        messages = _continued(messages, first)
        second = await model.reply(_request(name, messages), on_text=None)
    except ChironError as error:
        advice = "See that its server runs, that ANTHROPIC_BASE_URL is its address and that it takes the key."
        return [Finding("model", f"{name} does not answer: {error}", advice)]
    return [
        _cost(name, [first, second]),
        _calling(first),
        _stopping(second),
        await _window(model, settings, name),
    ]


def _request(name: str, messages: list[Message]) -> Request:
    return Request(name, SYSTEM, [encoded(DEFINITION)], REPLY_TOKENS, messages)


def _message(role: str, blocks: list[Block]) -> Message:
    return Message.of(role, blocks)


def _continued(messages: list[Message], reply: Reply) -> list[Message]:
    question = {"type": "text", "text": STOP_QUESTION}
    if not reply.has_open_calls:
        return [_message("user", [question])]
    results: list[Block] = [
        {"type": "tool_result", "tool_use_id": call.id, "content": "reported"} for call in reply.calls
    ]
    blocks = [block for block in reply.content if block["type"] != "text" or block["text"].strip()]
    return [*messages, _message("assistant", blocks), _message("user", [*results, question])]


def _cost(name: str, replies: list[Reply]) -> Finding:
    tokens = sum(reply.usage.tokens for reply in replies)
    costs = [reply.cost_usd for reply in replies if reply.cost_usd is not None]
    price = f"{sum(costs):.6f} USD" if len(costs) == len(replies) else "at no price that is known"
    return Finding(
        "model", f"{name} answers. The probe took {len(replies)} calls and {tokens:,} tokens, {price}."
    )


def _calling(reply: Reply) -> Finding:
    if any(call.name == TOOL and call.invalid_json is None for call in reply.calls) and reply.has_open_calls:
        return Finding("model calls", "It calls tools.")
    words = " ".join(reply.text.split())[:SHOWN_CHARS]
    if is_written_call(reply.text, {TOOL}):
        return Finding("model calls", f"It writes its tool calls as text: {words}", TEMPLATE_ADVICE)
    return Finding(
        "model calls",
        f"It calls no tool when it is told to (stop reason {reply.stop or 'none'}). {words}".strip(),
        TEMPLATE_ADVICE,
    )


def _stopping(reply: Reply) -> Finding:
    if reply.has_answer:
        return Finding("model stops", "It stops by itself.")
    if reply.stop == "max_tokens":
        return Finding(
            "model stops",
            f"It does not stop: asked for one word, it wrote {REPLY_TOKENS:,} tokens.",
            STOP_ADVICE,
        )
    return Finding(
        "model stops", f"It gives no answer in words (stop reason {reply.stop or 'none'}).", STOP_ADVICE
    )


async def _window(model: Model, settings: Settings, name: str) -> Finding:
    tokens = await model.context_tokens(name)
    if name in settings.context_tokens:
        return Finding("model window", f"{tokens:,} tokens, as CHIRON_CONTEXT_TOKENS says.")
    if await model.tells_context(name):
        advice = "" if tokens >= WINDOW_MIN else f"Start its server with {WINDOW_MIN:,} tokens or more."
        return Finding("model window", f"{tokens:,} tokens, as its server says.", advice)
    finding = f"Its server does not say; {tokens:,} tokens are assumed."
    return Finding("model window", finding if name.startswith("claude") else f"{finding} {WINDOW_ADVICE}")
