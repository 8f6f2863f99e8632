"""Facts that came over HTTP are asked about by a run of a real worker: what their quotes do not bear out is held down."""

import asyncio
import json
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx2
from support.queued_topics import assert_rows_agree
from support.scripted_model import Says, call, calls, says, scripted_model, turn, verdict_entries
from support.verified_quotes import page_read
from support.worker_processes import end_leases, rows, running, wait_until

from chiron_workers.db.connect import Pool
from chiron_workers.runs.journal import Journal
from chiron_workers.runs.rescue import rescue
from chiron_workers.settings import Settings

MODEL = {
    "CHIRON_LEASE_S": "5",
    "CHIRON_RENEWAL_S": "0.5",
    "CHIRON_RESCUE_S": "0.5",
    "ANTHROPIC_API_KEY": "test",
    "CHIRON_VERDICT_MODEL": "claude-haiku-4-5",
}
ORDER = {"model": "claude-opus-5-5", "budget_usd": 2}
PAGE = "https://docs.example/garden"
OPPOSITE = "Nothing keeps slugs away as coffee grounds do."
QUOTE = "Slugs walked over the coffee grounds as if they were not there."
RIGHTS = {
    f"Bed {n} is watered by row {n} of the barrels.": f"Row {n} of barrels feeds bed {n}." for n in range(30)
}


def fact(content: str, quote: str) -> dict[str, Any]:
    return {
        "content": content,
        "quote": quote,
        "subject_id": "garden",
        "source_url": PAGE,
        "source_score": 0.9,
        "topic_path": "beds",
        "confidence": 0.9,
    }


async def store_over_http(
    client: httpx2.AsyncClient, pool: Pool, claims: dict[str, str]
) -> dict[str, dict[str, Any]]:
    """Store facts of one page over HTTP; the receipts by statement."""
    await page_read(pool, PAGE, "\n\n".join(claims.values()))
    receipts = {}
    for content, quote in claims.items():
        answer = await client.post("/v1/tools/store_knowledge", json=fact(content, quote))
        assert answer.status_code == 200, answer.text
        receipts[content] = answer.json()["result"]
    return receipts


def verifier(request: dict[str, Any]) -> Says:
    """Plays the verifier as its prompt says."""
    if not turn(request):
        return calls(call("check_facts"))
    last = request["messages"][-1]["content"][0]
    result = json.loads(last["content"]) if last["type"] == "tool_result" else {}
    if result.get("left"):
        return calls(call("check_facts"))
    was_handed_in = any("hand_in_check" in str(message) for message in request["messages"])
    return says("All are checked.") if was_handed_in else calls(call("hand_in_check"))


def judge(request: dict[str, Any]) -> Says:
    return verdict_entries(
        request,
        lambda statement: (
            ("contradicted", "The quote says they stay.")
            if OPPOSITE in statement
            else ("supported", "So it is.")
        ),
    )


async def until_completed(settings: Settings, run_id: str) -> None:
    query = "select 1 from runs where state = 'completed' and id = %s"
    await asyncio.to_thread(
        wait_until, lambda: rows(settings, query, [run_id]), what="the check is completed"
    )


async def test_a_fact_that_says_the_opposite_of_its_quote_is_asked_about_and_held_down(
    client: httpx2.AsyncClient, pool: Pool, settings: Settings
) -> None:
    true_words = "Bed 1 is watered by row 1 of the barrels."
    receipts = await store_over_http(client, pool, {OPPOSITE: QUOTE, true_words: RIGHTS[true_words]})
    assert receipts[OPPOSITE]["verdict"] == "unchecked"
    assert receipts[OPPOSITE]["status"] == "stored"
    assert "POST /v1/subjects/garden/check" in receipts[OPPOSITE]["note"]

    ordered = await client.post("/v1/subjects/garden/check", json=ORDER)
    assert ordered.status_code == 202, ordered.text
    receipt = ordered.json()
    assert ordered.headers["location"] == f"/v1/batches/{receipt['batch_id']}"
    assert (receipt["unchecked"], receipt["unverified"], receipt["is_new"]) == (2, 0, True)
    again = await client.post("/v1/subjects/garden/check", json=ORDER)
    assert again.json() == receipt | {"is_new": False}

    async with scripted_model(verifier, judge=judge) as model:
        with running(settings, **MODEL, ANTHROPIC_BASE_URL=model.url):
            await until_completed(settings, receipt["run_ids"][0])
    [question] = model.verdict_questions
    assert question["model"] == "claude-haiku-4-5"

    held_down = (await client.get(f"/v1/facts/{receipts[OPPOSITE]['fact_id']}")).json()
    assert (held_down["status"], held_down["confidence"]) == ("candidate", 0)
    assert held_down["assertions"][0]["verdict"] == "contradicted"
    assert held_down["assertions"][0]["verdict_by"] == "claude-haiku-4-5"
    reason = f"its quote from {PAGE} contradicts it: The quote says they stay. (claude-haiku-4-5)"
    assert held_down["history"][-1]["reason"] == reason
    borne_out = (await client.get(f"/v1/facts/{receipts[true_words]['fact_id']}")).json()
    assert (borne_out["status"], borne_out["assertions"][0]["verdict"]) == ("accepted", "supported")
    search = {"query": "what keeps slugs away", "subject_id": "garden"}
    hits = (await client.post("/v1/knowledge/search", json=search)).json()["items"]
    assert [hit["content"] for hit in hits] == [true_words]

    nothing = await client.post("/v1/subjects/garden/check")
    assert nothing.status_code == 200
    assert nothing.json()["unchecked"] == 0


async def test_a_killed_check_goes_on_where_it_was_and_asks_nothing_twice(
    client: httpx2.AsyncClient, pool: Pool, settings: Settings
) -> None:
    await store_over_http(client, pool, RIGHTS)
    receipt = (await client.post("/v1/subjects/garden/check", json=ORDER)).json()
    is_killed, is_asked = asyncio.Event(), asyncio.Event()
    answered: Counter[str] = Counter()

    async def slow_judge(request: dict[str, Any]) -> Says:
        if answered and not is_killed.is_set():  # the second question is in flight when the worker dies
            is_asked.set()
            await is_killed.wait()
            return says("Nobody hears this.")
        question = str(request["messages"])
        answered.update(words for words in RIGHTS if f"\\n{words}\\n" in question)
        return judge(request)

    async with scripted_model(verifier, judge=slow_judge) as model:
        env = {**MODEL, "ANTHROPIC_BASE_URL": model.url}
        with running(settings, name="w1", **env) as first:
            await asyncio.wait_for(is_asked.wait(), 90)
            first.kill()
        end_leases(settings)
        # As by a worker that has heard from Postgres for a whole lease; the next one has not yet.
        journal = Journal(pool, lambda _: None, lease_for=timedelta(minutes=1))
        while not await rescue(journal, may_rescue=lambda _: True):
            await asyncio.sleep(0.01)
        is_killed.set()
        with running(settings, name="w2", **env):
            await until_completed(settings, receipt["run_ids"][0])
    assert set(answered.values()) == {1}
    assert len(answered) == len(RIGHTS)
    verdicts = rows(settings, "select verdict, count(*) as n from facts group by 1")
    assert verdicts == [{"verdict": "supported", "n": len(RIGHTS)}]
    [paid] = rows(
        settings,
        "select sum(cost_usd) as usd from (select cost_usd from entries union all select cost_usd from tool_results) as costs",
    )
    batch = (await client.get(f"/v1/batches/{receipt['batch_id']}")).json()
    assert Decimal(str(batch["spent_usd"])) == paid["usd"]
    assert_rows_agree(settings)


async def test_what_cannot_be_checked_is_refused_in_words(client: httpx2.AsyncClient) -> None:
    assert (await client.post("/v1/subjects/nowhere/check")).status_code == 404
    assert (await client.post("/v1/subjects/nowhere/check", json={"no": 1})).status_code == 422
