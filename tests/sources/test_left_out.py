"""What a reader left out is kept with each fetch of a text, and comes back with it; of older fetches nobody knows it."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from chiron_workers.db.connect import Pool
from chiron_workers.documents.document import Block, Document
from chiron_workers.documents.omissions import Omission
from chiron_workers.documents.read_folder import FileDocument
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Page, Sources

URL = "https://example.org/harbour"
PARTS = (Omission("formula", 3, "page 2"), Omission("comment", 1))
DOCUMENT = Document("Harbour", (Block("It has [formula] quays."),), left_out=PARTS)


@pytest.fixture
async def sources(pool: Pool) -> AsyncIterator[Sources]:
    async with Session(pool) as session:
        yield Sources(session)


async def test_what_was_left_out_comes_back_with_the_text(sources: Sources) -> None:
    page = Page.of(URL, "text/html", DOCUMENT)
    assert page.left_out == PARTS
    assert (await sources.save_and_read([page])).left_out == PARTS
    [version] = await sources.versions(URL)
    assert version.left_out == PARTS
    assert Page.of(URL, "text/html", version).left_out == PARTS


async def test_another_fetch_of_the_same_text_has_a_list_of_its_own(sources: Sources) -> None:
    page = Page.of(URL, "text/html", DOCUMENT)
    await sources.save(page)
    await sources.save(replace(page, left_out=()))
    latest = await sources.latest(URL)
    assert latest is not None
    assert latest.left_out == ()


async def test_of_a_fetch_of_the_version_before_nobody_knows_what_was_left_out(sources: Sources) -> None:
    await sources.save(Page.of(URL, "text/html", DOCUMENT))
    await sources.session.write("update fetches set left_out = null returning id", {})
    latest = await sources.latest(URL)
    assert latest is not None
    assert latest.left_out is None
    await sources.save(Page.of(URL, "text/html", latest))
    [version] = await sources.versions(URL)
    assert version.left_out is None


async def test_a_document_of_the_corpus_has_the_list_of_its_file(sources: Sources) -> None:
    corpus = Corpus(sources.session)
    await corpus.add("Lakes", [FileDocument("harbour.html", "text/html", DOCUMENT)])
    document = await corpus.document("corpus://lakes/harbour.html")
    assert document is not None
    assert document.left_out == PARTS
