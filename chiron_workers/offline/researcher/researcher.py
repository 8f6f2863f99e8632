"""The offline researcher: the next reply to a conversation, from nothing but the request."""

from chiron_workers.offline.api.reply import Reply, cut, reply
from chiron_workers.offline.api.request import MessagesRequest
from chiron_workers.offline.researcher.answers import answer_from_documents, progress, summary
from chiron_workers.offline.researcher.conversation import conversation_key, read
from chiron_workers.offline.researcher.research import Research

REPLIES_MAX = 12  # for one question; then it ends with what it has


def next_reply(request: MessagesRequest) -> Reply:
    """Search, fetch, store, and a summary that cites: whichever of these the conversation has not had yet.

    It uses web_search, web_fetch and store_knowledge as far as they are offered, and no other tool. The same request
    always gets the same reply.
    """
    key = conversation_key(request.system, request.messages[0].content)
    tools = [] if request.tool_choice.get("type") == "none" else request.tools
    messages = [(message.role, message.content) for message in request.messages]
    research = Research(read(request.system, messages), frozenset(str(tool["name"]) for tool in tools))
    calls_max = 1 if request.tool_choice.get("disable_parallel_tool_use") else None
    return cut(_next(research, key, request.turn, calls_max), request.max_tokens)


def _next(research: Research, key: str, turn: int, calls_max: int | None) -> Reply:
    is_follow_up = len(research.conversation.legs) > 1 and not research.leg.calls
    if is_follow_up and (answer := answer_from_documents(research)):
        return reply(key, turn, answer)
    if research.leg.replies < REPLIES_MAX:
        for plan in (research.searches, research.fetches, research.stores):
            if calls := plan()[:calls_max]:
                return reply(key, turn, progress(research, calls), calls)
    return reply(key, turn, summary(research))
