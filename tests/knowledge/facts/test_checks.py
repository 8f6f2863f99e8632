"""What a checked fact counts for: nothing where its quote says otherwise, neither for it nor against others."""

import pytest
from support.report_writing import offline_model
from support.research_rows import Shelf
from support.run_harness import Stage
from support.scripted_model import Fails, Says, call, calls, page_of, says, turn, verdict_entries

from chiron_workers.batches.submit import NewBatch, NewRun, submit
from chiron_workers.evidence.quotes.reading_window import reading_window
from chiron_workers.states import Outcome
from chiron_workers.tools import registry


async def play_check(stage: Stage, verdict: str, statement: str) -> Outcome:
    """Play a run of the verifier whose judge gives one statement a verdict and supports the others."""

    def script(request: dict[str, object]) -> Says:
        return [calls(call("check_facts")), calls(call("hand_in_check")), says("Done.")][turn(request)]

    def judge(request: dict[str, object]) -> Says:
        return verdict_entries(
            request,
            lambda item: (verdict, "It says more.") if statement in item else ("supported", "So it is."),
        )

    stage.registry = registry()
    await stage.model(script, judge=judge)
    run = NewRun("quotes", "verifier", "lake", stage.model_name, 10, scope="lake")
    [run_id] = (await submit(stage.pool, NewBatch([run], "lake"))).run_ids
    return await stage.play(run_id)


async def statuses(stage: Stage) -> dict[str, tuple[str, float]]:
    rows = await stage.rows("select content, status, confidence from facts")
    return {row["content"]: (row["status"], round(row["confidence"], 2)) for row in rows}


@pytest.mark.parametrize("verdict", ["contradicted", "silent", "partly"])
async def test_a_fact_that_its_quote_does_not_bear_out_disputes_no_other(
    stage: Stage, shelf: Shelf, verdict: str
) -> None:
    shelf.subject("lake", "Lake")
    quote = "They fished the lake for years and found no floor to it."
    wrong = shelf.fact(
        "lake", "The lake is shallow.", "https://a.org/", quote=quote, text=quote, source_score=0.9
    )
    deep = "The lake is deep."
    right = shelf.fact(
        "lake", deep, "https://b.org/", quote=deep, text=deep, status="disputed", confidence=0.5
    )
    shelf.link(wrong, right, "contradicts")
    assert await play_check(stage, verdict, "The lake is shallow.") is Outcome.PLAYED
    states = await statuses(stage)
    assert states["The lake is deep."] == ("accepted", 0.9)
    status, confidence = states["The lake is shallow."]
    assert status == "candidate"
    assert (confidence == 0) is (verdict != "partly")
    reasons = await stage.rows("select reason from fact_changes where fact_id = %s", right)
    assert all("https://a.org/" not in row["reason"] for row in reasons)


async def test_another_source_that_bears_the_fact_out_still_carries_it(stage: Stage, shelf: Shelf) -> None:
    shelf.subject("lake", "Lake")
    fact = shelf.fact(
        "lake", "The lake is deep.", "https://a.org/", quote="Boats cross it.", text="Boats cross it."
    )
    shelf.confirm(fact, "The lake has great depth.", "https://b.org/", quote="No rope is long enough.",
                  text="No rope is long enough.", source_score=0.9)  # fmt: skip
    assert await play_check(stage, "silent", "The lake is deep.") is Outcome.PLAYED
    assert await statuses(stage) == {"The lake is deep.": ("accepted", 0.9)}
    rows = await stage.rows("select verdict, verdict_by from corroborations")
    assert rows == [{"verdict": "supported", "verdict_by": stage.model_name}]


async def test_a_check_of_facts_of_a_version_before_sees_their_pages_and_keeps_what_it_saw(
    stage: Stage, shelf: Shelf
) -> None:
    shelf.subject("lake", "Lake")
    quotes = ["No rope reached the floor.", "Boats cross it in an hour."]
    text = "\n\n".join(["A novel in three parts", *["They told of it."] * 300, *quotes])
    for quote in quotes:
        shelf.fact("lake", f"They say: {quote}", "https://a.org/", quote=quote, text=text)
    pages = []

    def script(request: dict[str, object]) -> Says:
        return [calls(call("check_facts")), calls(call("hand_in_check")), says("Done.")][turn(request)]

    def judge(request: dict[str, object]) -> Says:
        def verdict_on(item: str) -> tuple[str, str]:
            pages.append(page_of(request, item))
            return ("contradicted", "It is a novel.")

        return verdict_entries(request, verdict_on)

    stage.registry = registry()
    await stage.model(script, judge=judge)
    run = NewRun("quotes", "verifier", "lake", stage.model_name, 10, scope="lake")
    [run_id] = (await submit(stage.pool, NewBatch([run], "lake"))).run_ids
    assert await stage.play(run_id) is Outcome.PLAYED
    assert len(pages) == 2
    assert len(set(pages)) == 1, "both facts are of one page"
    assert "A novel in three parts" in pages[0]
    assert len(stage.server.verdict_questions) == 1
    for row in await stage.rows("select window_pieces, window_hash, quote_start, quote_end from facts"):
        window = reading_window(text, row["quote_start"], row["quote_end"])
        assert row["window_pieces"] == window.as_rows()
        assert row["window_hash"] == window.digest_of(text)


async def test_a_check_without_answers_judges_nothing_and_is_not_handed_in(
    stage: Stage, shelf: Shelf
) -> None:
    shelf.subject("lake", "Lake")
    shelf.fact(
        "lake", "The lake is deep.", "https://a.org/", quote="No rope reached.", text="No rope reached."
    )

    def script(request: dict[str, object]) -> Says:
        return (
            [calls(call("check_facts")), calls(call("hand_in_check"))][turn(request)]
            if turn(request) < 2
            else says("No.")
        )

    stage.registry = registry()
    await stage.model(script, judge=lambda _: Fails(400, "invalid_request_error"))
    run = NewRun("quotes", "verifier", "lake", stage.model_name, 10, scope="lake")
    [run_id] = (await submit(stage.pool, NewBatch([run], "lake"))).run_ids
    assert await stage.play(run_id) is Outcome.FAILED
    results = str(stage.server.requests[-1]["messages"])
    assert "The model does not answer" in results
    assert "1 facts are left" in results
    assert (await stage.rows("select verdict, checked_run_id from facts")) == [
        {"verdict": "unchecked", "checked_run_id": None}
    ]


async def test_the_offline_researcher_checks_a_subject_of_several_pages_to_its_end(
    stage: Stage, shelf: Shelf
) -> None:
    shelf.subject("lake", "Lake")
    for n in range(60):
        words = f"Boat {n} crossed the lake."
        shelf.fact("lake", words, f"https://a.org/{n}", quote=words, text=words)
    stage.registry = registry()
    async with offline_model(stage):
        run = NewRun("quotes", "verifier", "lake", "offline", 10, scope="lake")
        [run_id] = (await submit(stage.pool, NewBatch([run], "lake"))).run_ids
        assert await stage.play(run_id) is Outcome.PLAYED
    rows = await stage.rows("select verdict, verdict_by, count(*) as n from facts group by 1, 2")
    assert rows == [{"verdict": "supported", "verdict_by": "rules", "n": 60}]
