"""A run reads the documents of its own subject, and of subjects that share a node with it; others find none there."""

import pytest
from tools.conftest import Call

from chiron_workers.db.connect import Pool
from chiron_workers.errors import ToolError
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.runs.session import Caller, Session

SECRET = "The Mars probe lands at noon.\n\n" + "It is made of steel. " * 100
URL = "corpus://mars/probe.txt"


@pytest.fixture(autouse=True)
async def documents(pool: Pool) -> None:
    async with Session(pool) as session:
        await Corpus(session).add_texts("Mars", [("probe.txt", "Probe", SECRET)])
        await Corpus(session).add_texts("Venus", [("probe.txt", "Probe", "The Venus probe lands at six.")])
        await Corpus(session).add_texts("Moon", [("probe.txt", "Probe", "The Moon probe lands at two.")])


async def found(call: Call, caller: Caller | None, subject_id: str | None = None) -> set[str]:
    """The subjects of the documents that a question finds."""
    answer = await call(
        "knowledge_base", {"question": "When lands the probe?", "subject_id": subject_id}, caller
    )
    return {document["url"].split("/")[2] for document in answer["documents"]}


async def test_a_run_neither_finds_nor_reads_the_documents_of_another_subject(
    call: Call, in_a_run: Caller
) -> None:
    assert await found(call, in_a_run) == {"moon"}
    assert await found(call, in_a_run, "mars") == set()
    arguments = {"query": "probe", "subject_id": "mars"}
    assert await call("web_search", arguments, in_a_run) == []
    await call("web_fetch", {"url": URL})  # somebody has read it, so its text is kept
    for url in (URL, "CORPUS://mars/probe.txt", "corpus://mars/probe%2Etxt"):
        for offset in (0, 5):
            with pytest.raises(
                ToolError, match=r"does not read the documents of 'mars'|has no document|must begin"
            ):
                await call("web_fetch", {"url": url, "offset": offset}, in_a_run)
    moon = await call("web_fetch", {"url": "corpus://moon/probe.txt"}, in_a_run)
    assert moon["text"] == "The Moon probe lands at two."


async def test_a_subject_that_shares_a_node_with_that_of_a_run_is_read_and_no_run_shares_one_itself(
    call: Call, in_a_run: Caller
) -> None:
    node = {"subject_id": "Mars", "title": "Probes", "description": "What flies there."}
    await call("save_knowledge_node", node | {"shared_with_subjects": ["moon"]})
    assert await found(call, in_a_run) == {"moon", "mars"}
    assert await found(call, in_a_run, "mars") == {"mars"}
    assert (await call("web_fetch", {"url": URL}, in_a_run))["text"].startswith("The Mars probe")
    assert (await call("web_fetch", {"url": URL, "offset": 5}, in_a_run))["text"].startswith("ars probe")
    of_mars = Caller("local", in_a_run.run_id, in_a_run.batch_id, "call-1", "mars")
    assert await found(call, of_mars) == {"mars"}, "the other way round nothing is shared"


async def test_a_person_finds_and_reads_the_documents_of_all_subjects(call: Call) -> None:
    assert await found(call, None) == {"moon", "mars", "venus"}
    assert (await call("web_fetch", {"url": URL}))["text"].startswith("The Mars probe")
