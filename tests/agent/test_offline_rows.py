"""The offline researcher hands in rows from the facts that it stored, and says of each gap that it is one."""

from support.report_writing import offline_model
from support.row_answers import submit_rows
from support.run_harness import Stage

from chiron_workers.batches.answers import columns_asked_for
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.knowledge.rows.reading import row_page
from chiron_workers.runs.session import Session
from chiron_workers.states import Outcome

DATABASES = """# Databases

PostgreSQL was first released under its present name in 1996. SQLite was first released on 17 August 2000 by D. Richard Hipp.

MySQL was not first released in 1994.
"""
COLUMNS = "name, year:int, day:date, statement, source, page:url, free:bool"


async def test_each_fact_fills_what_its_words_give_and_the_rest_is_empty_with_a_reason(stage: Stage) -> None:
    async with Session(stage.pool) as session:
        await Corpus(session).add_texts("databases", [("databases.md", "Databases", DATABASES)])
    async with offline_model(stage):
        [run_id] = await submit_rows(stage, "When were databases first released?", columns=COLUMNS)
        assert await stage.play(run_id) is Outcome.PLAYED
    columns = await columns_asked_for(stage.pool, run_id)
    kept = await row_page(stage.pool, run_id, columns, after=None, limit=100)
    values = {row.cells[0].value: [cell.value for cell in row.cells[1:]] for row in kept}
    url = "corpus://databases/databases.md"
    sentence = "SQLite was first released on 17 August 2000 by D. Richard Hipp."
    assert values["SQLite"] == [2000, "2000-08-17", sentence, url, None, None]
    assert values["PostgreSQL"][:2] == [1996, None]
    for row in kept:
        assert all(cell.reason if cell.value is None else cell.facts for cell in row.cells)
    verdicts = await stage.rows("select distinct verdict, verdict_by, verdict_reason from facts")
    assert verdicts == [{"verdict": "unchecked", "verdict_by": "", "verdict_reason": "No model was asked."}]


async def test_without_a_source_it_hands_in_one_empty_row(stage: Stage) -> None:
    async with offline_model(stage):
        [run_id] = await submit_rows(stage, "When were databases first released?", columns=COLUMNS)
        assert await stage.play(run_id) is Outcome.PLAYED
    columns = await columns_asked_for(stage.pool, run_id)
    [row] = await row_page(stage.pool, run_id, columns, after=None, limit=100)
    assert {cell.value for cell in row.cells} == {None}
    assert row.cells[0].reason == "No source that was read answers the topic."
