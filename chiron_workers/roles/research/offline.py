"""How the offline researcher plays research: search, fetch, store, rows where they are asked for, and a summary that cites."""

from chiron_workers.offline.api.reply import Reply, reply
from chiron_workers.offline.researcher.answers import answer_from_documents, progress, summary
from chiron_workers.offline.researcher.composition import whole_leg
from chiron_workers.offline.researcher.research import Research
from chiron_workers.offline.researcher.researcher import Turn
from chiron_workers.offline.researcher.rows import HAND_IN, RowAnswer, read_columns

REPLIES_MAX = 12  # for one question; then it ends with what it has


def play(turn: Turn) -> Reply:
    """Whichever step the conversation has not had yet.

    It uses web_search, web_fetch, store_knowledge and hand_in_rows as far as they are offered, and no other tool.
    """
    research = Research(turn.conversation, turn.tools)
    rows = RowAnswer(whole_leg(turn), read_columns(turn.conversation.system) if HAND_IN in turn.tools else [])
    is_follow_up = len(research.conversation.legs) > 1 and not research.leg.calls
    if is_follow_up and (answer := answer_from_documents(research)):
        return reply(turn.key, turn.number, answer)
    if research.leg.replies < REPLIES_MAX:
        for plan in (research.searches, research.fetches, research.stores):
            if calls := plan()[: turn.calls_max]:
                return reply(turn.key, turn.number, progress(research, calls), calls)
    if call := rows.next_call():
        return reply(turn.key, turn.number, "Handing in the rows.", [call])
    return reply(turn.key, turn.number, summary(research))
