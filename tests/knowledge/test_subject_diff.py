import random
from itertools import pairwise
from typing import Any

import pytest
from support.backdated_facts import Dated, day

from chiron_api.cli.display.difference import difference_lines
from chiron_api.views.differences import counts_line
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import NotFound, UsageError
from chiron_workers.ids import new_id
from chiron_workers.knowledge import subject_diff
from chiron_workers.knowledge.facts.withdrawals import reinstate, withdraw
from chiron_workers.knowledge.subject_diff import SubjectDiff
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Page, Sources
from chiron_workers.store import Store

SINCE, UNTIL = 10, 20


@pytest.fixture
async def dated(pool: Pool) -> Dated:
    return await Dated(pool).begin()


async def between(
    dated: Dated, since: float = SINCE, until: float | None = UNTIL, **more: Any
) -> SubjectDiff:
    ends = None if until is None else day(until)
    return await subject_diff.between(Session(dated.pool), "ice", day(since), ends, **more)


def counted(found: SubjectDiff) -> dict[str, int]:
    return {name: count for name, count in found.counts.items() if count}


async def test_what_was_stored_in_between_is_new_and_what_was_there_before_or_came_later_is_not(
    dated: Dated,
) -> None:
    for content, at in (("Before.", 9), ("At the first moment.", 10), ("In between.", 11), ("Later.", 21)):
        await dated.fact(content, at=at)
    found = await between(dated)
    assert [fact.content for fact in found.new] == ["In between."]
    assert (counted(found), found.is_empty) == ({"new": 1}, False)
    assert (found.new[0].status_before, found.new[0].at) == (None, day(11))


async def test_a_fact_is_told_as_it_was_at_both_moments_whatever_came_after(dated: Dated) -> None:
    fact_id = await dated.fact("It floats.", at=1, confidence=0.5, status="candidate")
    for confidence, status, until in (
        (0.8, "accepted", 9),
        (0.85, "accepted", 12),
        (0.95, "disputed", 15),
        (0.9, "disputed", 25),
    ):
        await dated.was(fact_id, confidence, status, until=until, reason=f"on day {until}")
    [fact] = (await between(dated)).changed
    assert (fact.confidence_before, fact.status_before) == (pytest.approx(0.85), "accepted")
    assert (fact.confidence, fact.status) == (pytest.approx(0.9), "disputed")
    assert (fact.at, fact.reason) == (day(15), "on day 15")
    assert [fact.status for fact in (await between(dated, 20, None)).dropped] == ["candidate"]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("candidate", "accepted", "lifted"),
        ("candidate", "disputed", "lifted"),
        ("accepted", "candidate", "dropped"),
        ("accepted", "withdrawn", "withdrawn"),
        ("disputed", "withdrawn", "withdrawn"),
        ("withdrawn", "accepted", "restored"),
        ("accepted", "superseded", "superseded"),
        ("superseded", "accepted", "restored"),
        ("candidate", "superseded", ""),
        ("accepted", "disputed", "changed"),
        ("candidate", "withdrawn", ""),
        ("accepted", "accepted", ""),
        ("candidate", "candidate", ""),
    ],
)
async def test_a_fact_that_moves_between_what_is_shown_and_what_is_not_says_how(
    dated: Dated, before: str, after: str, kind: str
) -> None:
    fact_id = await dated.fact("It floats.", at=1, status=after)
    await dated.was(fact_id, 0.9, before, until=15)
    found = await between(dated)
    assert (counted(found), found.is_empty) == ({kind: 1} if kind else {}, not kind)


async def test_what_came_and_went_in_between_is_no_difference(dated: Dated) -> None:
    stored = await dated.fact("Stored and withdrawn.", at=11, status="withdrawn")
    await dated.was(stored, 0.9, "accepted", until=12)
    there_and_back = await dated.fact("There and back.", at=1)
    await dated.was(there_and_back, 0.9, "accepted", until=12)
    await dated.was(there_and_back, 0.5, "candidate", until=13)
    assert (await between(dated)).is_empty


async def test_a_candidate_that_is_new_is_counted_and_makes_no_difference(dated: Dated) -> None:
    await dated.fact("Perhaps.", at=12, status="candidate", confidence=0.4)
    found = await between(dated)
    assert (counted(found), found.is_empty) == ({"candidates": 1}, True)
    assert [fact.content for fact in found.candidates] == ["Perhaps."]


async def test_further_sources_of_known_facts_are_told(dated: Dated) -> None:
    known, new = await dated.fact("Known.", at=1), await dated.fact("New.", at=12)
    for at, url in (
        (5, "https://a.org/"),
        (12, "https://b.org/"),
        (13, "https://c.org/"),
        (22, "https://d.org/"),
    ):
        await dated.corroborate(known, url, at=at)
    await dated.corroborate(new, "https://b.org/", at=13)
    found = await between(dated)
    assert [(fact.id, fact.sources) for fact in found.corroborated] == [
        (known, ["https://b.org/", "https://c.org/"])
    ]
    assert counted(found) == {"new": 1, "corroborated": 1}


async def test_contradictions_are_told_with_both_sides(dated: Dated) -> None:
    four, five = (
        await dated.fact("Four.", at=1, status="disputed"),
        await dated.fact("Five.", at=12, status="disputed"),
    )
    out_of_sight = [await dated.fact(f"Candidate {n}.", at=1, status="candidate") for n in (1, 2)]
    await dated.was(four, 0.9, "disputed", until=9)
    await dated.contradict(five, four, at=12)
    await dated.contradict(*out_of_sight, at=12)
    found = await between(dated)
    [pair] = found.contradicted
    assert (pair.content, pair.other_content, pair.reason) == ("Five.", "Four.", "other numbers")
    assert counted(found) == {"new": 1, "contradicted": 1}
    assert (await between(dated, 13, 20)).is_empty


async def changed(dated: Dated, url: str, kind: str, at: float, *fact_ids: str) -> None:
    """As if an address had changed on a day, with these facts on words that are gone."""
    async with Session(dated.pool) as session:
        kept = await Sources(session).save(Page(url, f"{url} {kind} {at}", "text/plain"))
    change_id = new_id()
    await dated.write(
        """insert into source_changes (id, url, kind, fetch_id, hash_before, hash, at, checked_at)
           select %(id)s, %(url)s, %(kind)s, id, hash, case when %(kind)s <> 'gone' then hash end, %(at)s, %(at)s
             from fetches where url = %(url)s and hash = %(hash)s order by fetched_at desc limit 1""",
        id=change_id, url=url, kind=kind, at=day(at), hash=kept,
    )  # fmt: skip
    for fact_id in fact_ids:
        await dated.write("insert into lost_grounds values (%(c)s, %(f)s, %(f)s)", c=change_id, f=fact_id)


async def test_sources_count_where_facts_of_the_subject_lost_what_they_rest_on(dated: Dated) -> None:
    fact_id = await dated.fact("It floats.", at=1)
    await changed(dated, "https://gone.org/", "gone", 12, fact_id)
    await changed(dated, "https://changed.org/", "changed", 13, fact_id)
    await changed(dated, "https://counter.org/", "changed", 13)
    await changed(dated, "https://before.org/", "gone", 9, fact_id)
    found = await between(dated)
    assert {source.url: source.kind for source in found.sources} == {
        "https://gone.org/": "gone",
        "https://changed.org/": "changed",
    }
    assert counted(found) == {"sources_gone": 1, "sources_changed": 1}
    await dated.write("insert into subjects (id, title) values ('sea', 'Sea')")
    assert (await subject_diff.between(Session(dated.pool), "sea", day(10), day(20))).is_empty


async def test_a_loss_is_told_once_however_often_the_page_changes_after_it(dated: Dated) -> None:
    fact_id = await dated.fact("It floats.", at=1)
    for at in (12, 22, 32):
        await changed(dated, "https://counter.org/", "changed", at, fact_id)
    assert counted(await between(dated)) == {"sources_changed": 1}
    assert (await between(dated, 20, 30)).is_empty
    await changed(dated, "https://counter.org/", "gone", 42, fact_id)
    assert counted(await between(dated, 40, 50)) == {"sources_gone": 1}


async def test_a_source_that_is_back_without_the_words_is_told_as_both(dated: Dated) -> None:
    one, two, three = [await dated.fact(f"Fact {n}.", at=1) for n in range(3)]
    for url, lost in (("https://same.org/", []), ("https://other.org/", [two, three])):
        await changed(dated, url, "gone", 9, one, two)
        async with Session(dated.pool) as session:
            await Sources(session).save(Page(url, "It answers again.", "text/plain"))
        await dated.write(
            "update source_changes set at = %(at)s where kind = 'back' and at > now() - interval '1 day'",
            at=day(12),
        )
        for fact_id in lost:
            query = "insert into lost_grounds select id, %(f)s, %(f)s from source_changes where url = %(url)s and kind = 'back'"
            await dated.write(query, url=url, f=fact_id)
    found = await between(dated)
    assert {source.url: (source.fact_ids, source.lost_fact_ids) for source in found.sources} == {
        "https://same.org/": ([one, two], []),
        "https://other.org/": ([one, two, three], [two, three]),
    }
    assert counted(found) == {"sources_back": 2, "sources_back_changed": 1}
    assert counts_line(found.counts) == "2 sources back, 1 of them changed"
    [told] = [line for line in difference_lines(found) if "other.org" in line]
    assert "3 facts rest on it, and the words that 2 of them rest on are gone" in told


async def test_words_that_were_gone_before_a_source_went_and_came_back_are_not_told_again(
    dated: Dated,
) -> None:
    fact_id = await dated.fact("It floats.", at=1)
    await changed(dated, "https://counter.org/", "changed", 9, fact_id)
    await changed(dated, "https://counter.org/", "gone", 12, fact_id)
    await changed(dated, "https://counter.org/", "back", 13, fact_id)
    assert (await between(dated)).is_empty


async def test_a_past_difference_stays_the_same_whatever_is_withdrawn_later(
    dated: Dated, pool: Pool, embedder: Embedder
) -> None:
    shown = [await dated.fact(f"Fact {n}.", at=1) for n in range(6)]
    new = await dated.fact("New.", at=12)
    out_of_sight = await dated.fact("Out of sight.", at=1)
    await dated.was(out_of_sight, 0.9, "accepted", until=15)
    await dated.write("update facts set status = 'withdrawn' where id = %(id)s", id=out_of_sight)
    await dated.corroborate(shown[0], "https://b.org/", at=12)
    await dated.corroborate(out_of_sight, "https://b.org/", at=12)
    await dated.contradict(shown[1], shown[2], at=12)
    await dated.contradict(shown[1], out_of_sight, at=12)
    await changed(dated, "https://gone.org/", "gone", 12, shown[3], out_of_sight)
    before = await between(dated)
    assert counted(before) == {
        "new": 1, "withdrawn": 1, "corroborated": 1, "contradicted": 1, "sources_gone": 1,
    }  # fmt: skip
    for fact_id in (*shown, new):
        async with Store(Session(pool), embedder) as store:
            await withdraw(store.facts, fact_id, reason="wrong")
    async with Store(Session(pool), embedder) as store:
        await reinstate(store.facts, out_of_sight, reason="right")
    assert await between(dated) == before
    assert (await between(dated, 20, None)).counts["withdrawn"] == len(shown) + 1


async def test_lists_are_cut_and_counts_are_whole(dated: Dated) -> None:
    for n in range(7):
        await dated.fact(f"Fact {n}.", at=12, confidence=0.8 + n / 100)
    found = await between(dated, limit=3)
    assert (found.counts["new"], [fact.content for fact in found.new]) == (
        7,
        ["Fact 6.", "Fact 5.", "Fact 4."],
    )


async def test_a_subject_that_is_not_there_and_a_time_without_length_are_refused(dated: Dated) -> None:
    session = Session(dated.pool)
    with pytest.raises(NotFound, match="no subject 'sea'"):
        await subject_diff.between(session, "sea", day(1))
    for until in (day(10), day(9)):
        with pytest.raises(UsageError, match="has no length"):
            await subject_diff.between(session, "ice", day(10), until)


async def test_differences_of_consecutive_times_add_up(dated: Dated, chance: random.Random) -> None:
    """Whatever happened: what is shown at the end is what was shown at the beginning, and what the differences say."""
    states = ("accepted", "disputed", "candidate", "withdrawn")
    for n in range(40):
        times = sorted(chance.uniform(0, 40) for _ in range(chance.randint(1, 5)))
        fact_id = await dated.fact(f"Fact {n}.", at=times[0], status=chance.choice(states))
        for at in times[1:]:
            await dated.was(fact_id, 0.9, chance.choice(states), until=at)
    shown: set[str] = set()
    marks = [0.0, *sorted(chance.uniform(1, 39) for _ in range(4)), 41]
    for since, until in pairwise(marks):
        found = await between(dated, since, until)
        assert not {one.id for one in (*found.new, *found.lifted, *found.restored)} & shown
        assert {one.id for one in (*found.dropped, *found.withdrawn, *found.changed)} <= shown
        shown |= {one.id for one in (*found.new, *found.lifted, *found.restored)}
        shown -= {one.id for one in (*found.dropped, *found.withdrawn)}
    async with dated.pool.connection() as connection:
        query = "select id::text from facts where status in ('accepted', 'disputed')"
        now = {row["id"] for row in await (await connection.execute(query)).fetchall()}
    assert shown == now
