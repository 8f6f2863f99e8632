"""The offline researcher: the next reply to a conversation, from nothing but the request."""

from chiron_workers.offline.api.reply import Reply, cut, reply
from chiron_workers.offline.api.request import MessagesRequest
from chiron_workers.offline.researcher import answers
from chiron_workers.offline.researcher.conversation import conversation_key, read
from chiron_workers.offline.researcher.inquiry import Inquiry
from chiron_workers.offline.researcher.toolbelt import toolbelt

REPLIES_MAX = 12  # for one question; then it ends with what it has


def next_reply(request: MessagesRequest) -> Reply:
    """Search, fetch, store, and a summary that cites: whichever of these the conversation has not had yet.

    The same request always gets the same reply.
    """
    key = conversation_key(request.system, request.messages[0].content)
    offered = [] if request.tool_choice.get("type") == "none" else request.tools
    messages = [(message.role, message.content) for message in request.messages]
    inquiry = Inquiry(read(request.system, messages), toolbelt(offered))
    at_once = 1 if request.tool_choice.get("disable_parallel_tool_use") else None
    return cut(_next(inquiry, key, request.turn, at_once), request.max_tokens)


def _next(inquiry: Inquiry, key: str, turn: int, at_once: int | None) -> Reply:
    follows_up = len(inquiry.conversation.legs) > 1 and not inquiry.leg.calls
    if follows_up and (answer := answers.from_what_was_found(inquiry)):
        return reply(key, turn, answer)
    if inquiry.leg.replies < REPLIES_MAX:
        for step, plan in (
            ("search", inquiry.searches),
            ("fetch", inquiry.fetches),
            ("store", inquiry.stores),
        ):
            if wanted := plan()[:at_once]:
                said = answers.progress(inquiry, len(wanted), step, inquiry.documents)
                return reply(key, turn, said, [(tool.name, arguments) for tool, arguments in wanted])
    return reply(key, turn, answers.summary(inquiry))
