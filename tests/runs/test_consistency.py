"""The check that the crash tests end with: it passes what a run leaves, and names whatever is damaged."""

from collections.abc import Iterable

import psycopg
import pytest
from psycopg.rows import DictRow
from support.run_harness import Stage
from support.scripted_model import Ask, Says, call, calls, says, turn

from benchmarks.crashes.consistency import LoggedReply, among_rows, disagreements, snapshot

DAMAGES = {
    "delete from events where seq = 3": "the events have gaps",
    "update runs set seq = seq + 1": "the events have gaps",
    "update events set at = at - interval '1 hour' where seq = 4": "not in the order of their times",
    "update entries set n = 9 where n = 4": "the entries have gaps",
    "update entries set epoch = 2 where n = 3": "epochs or leases go back",
    "update entries set lease = 7 where n = 2": "epochs or leases go back",
    "update entries set token = gen_random_uuid() where n = 4": "two executions wrote under one lease",
    "delete from tool_results where name = 'note'": "a tool call has no result",
    "update tool_results set n = 5 where name = 'note'": "a result belongs to no call",
    "delete from events where kind = 'tool.called'": "calls and their events differ",
    "update events set kind = 'tool.called' where kind = 'tool.returned'": "results and their events differ",
    "update runs set turns = 4": "its turns are 4, and its rows add up to 3",
    "update events set kind = 'fact.stored' where kind = 'model.replied'": "its facts are 0",
    "update runs set steps = steps + 1": "its steps are",
    "update runs set unread = 1": "its unread messages are 1",
    "update runs set spent_usd = spent_usd + 0.5": "its USD are",
    "update runs set output_tokens = output_tokens + 10": "its output tokens are 40, and its entries have 30",
    "update runs set reserved_calls = 1": "1 calls reserved",
    "update runs set unconfirmed_usd = 1": "money is reserved or unconfirmed",
    "update runs set leased_until = now()": "a lease and the state contradict",
    "update batches set spent_tokens = spent_tokens + 1": "its tokens are",
    "update batches set open_runs = 1": "its open runs are 1",
    "update batches set finished_at = null": "the batch is not closed",
    "update spending set usd = usd + 1": "the sums of the days are wrong",
}
DAMAGES_AGAINST_THE_LOG = {
    """insert into entries (run_id, n, kind, lease, body)
       select run_id, 9, kind, lease, body from entries where n = 3""": "stands 2 times",
    """update entries set body = replace(body::text, 'req_', 'req_0')::json
        where n = 3""": "was never sent",
    """update entries set body = replace(body::text, 'the end', 'an end')::json
        where n = 5""": "is not what was sent",
    "delete from entries where n = 5": "was complete and is stored nowhere",
    "update runs set topic = 'waves'": "was sent to tides",
    "update runs set unconfirmed_calls = 1": "1 calls are unconfirmed, and the log has 0",
}


def script(request: dict[str, object]) -> Says:
    match turn(request):
        case 0:
            return calls(call("note", words="one"), call("echo", words="two"))
        case 1:
            return calls(call("explode"))
    return says("the end")


def logged(asks: Iterable[Ask]) -> list[LoggedReply]:
    return [ask.logged("tides") for ask in asks]


@pytest.fixture
async def stored(stage: Stage) -> psycopg.Connection[DictRow]:
    """What a run left that called tools in two turns."""
    await stage.model(script)
    (run_id,) = await stage.submit("tides")
    await stage.play(run_id)
    return snapshot(stage.settings.database_url)


async def test_what_a_run_leaves_agrees_with_itself_and_with_the_log(
    stored: psycopg.Connection[DictRow], stage: Stage
) -> None:
    with stored:
        assert disagreements(stored, logged(stage.server.asks)) == []


async def test_each_damage_to_the_rows_is_named(stored: psycopg.Connection[DictRow]) -> None:
    with stored:
        for damage, words in DAMAGES.items():
            stored.execute("savepoint undamaged")
            assert stored.execute(damage).rowcount > 0, damage
            sentences = list(among_rows(stored))
            assert any(words in sentence for sentence in sentences), (damage, words, sentences)
            stored.execute("rollback to undamaged")


async def test_each_difference_between_rows_and_log_is_named(
    stored: psycopg.Connection[DictRow], stage: Stage
) -> None:
    log = logged(stage.server.asks)
    with stored:
        for damage, words in DAMAGES_AGAINST_THE_LOG.items():
            stored.execute("savepoint undamaged")
            assert stored.execute(damage).rowcount > 0, damage
            sentences = disagreements(stored, log)
            assert any(words in sentence for sentence in sentences), (damage, words, sentences)
            stored.execute("rollback to undamaged")


async def test_a_reply_that_was_lost_need_not_be_stored_but_counts_as_unconfirmed(
    stored: psycopg.Connection[DictRow], stage: Stage
) -> None:
    log = logged(stage.server.asks)
    extra = LoggedReply("req_lost", "tides", is_complete=True)
    with stored:
        assert any("stored nowhere" in sentence for sentence in disagreements(stored, [*log, extra]))
        (sentence,) = disagreements(stored, [*log, extra], lost={"req_lost"})
        assert "0 calls are unconfirmed, and the log has 1" in sentence


async def test_the_answers_to_tools_are_charged_once_each(
    stored: psycopg.Connection[DictRow], stage: Stage
) -> None:
    log = logged(stage.server.asks)
    answers = [
        LoggedReply(f"req_{n}", "tides", is_complete=True, side_question="how good?", tokens=110)
        for n in "ab"
    ]
    with stored:
        assert any(
            "and the log has 110 to 110" in sentence
            for sentence in disagreements(stored, [*log, *answers[:1]])
        )
        stored.execute("update runs set input_tokens = input_tokens + 220")
        sentences = disagreements(stored, [*log, *answers])
        assert any("was answered 2 times: how good?" in sentence for sentence in sentences)
        assert not any("the answers to its tools" in sentence for sentence in sentences)
