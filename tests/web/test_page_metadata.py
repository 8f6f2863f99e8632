"""What a page says of itself counts where its address tells nothing, and gains it less than a journal's address."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.scripted_sites import serving

from chiron_api.reports.formats import bibtex
from chiron_api.reports.gathering import gather
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.facts.quote_rechecks import recheck
from chiron_workers.runs.session import Session
from chiron_workers.store import Store
from chiron_workers.tools.knowledge import store_knowledge
from chiron_workers.web.fetch import fetch_page

WORDS = "The rate of the bank is 5 % a year, as all of its customers know."
PAPER = '<meta name="citation_doi" content="10.1234/rate"><meta name="citation_journal_title" content="Journal of Rates">'
FORUM = '<meta name="generator" content="phpBB">'


async def stored(pool: Pool, embedder: Embedder, head: str, *, score: float = 1.0) -> tuple[str, float]:
    """Kind and score of the source of a fact from a page with this head."""
    async with serving() as site:
        page = site.text(
            "/a", f"<html><head>{head}</head><body><p>{WORDS}</p></body></html>", Content_Type="text/html"
        )
        async with Store(Session(pool), embedder) as store:
            await fetch_page(store, page)
            await store_knowledge(
                store, content=WORDS, quote=WORDS, subject_id="bank", source_url=page, source_score=score,
                topic_path="a/b", confidence=0.9,
            )  # fmt: skip
    [row] = await Session(pool).rows("select source_kind, source_score from facts")
    return row["source_kind"], round(row["source_score"], 2)


@pytest.fixture
def table(setting: Callable[[str, str], None], tmp_path: Path) -> Callable[[str], None]:
    """Say what kind of source the scripted site's address is."""
    setting("FETCH_PRIVATE", "true")
    setting("FETCH_PAUSE_S", "0")

    def write(kind: str) -> None:
        file = tmp_path / "kinds.toml"
        file.write_text(f'{kind} = ["127.0.0.1"]\n')
        setting("SOURCE_KINDS", str(file))

    return write


@pytest.mark.parametrize(
    ("head", "score", "kind", "counts"),
    [
        (PAPER, 1.0, "expert", 0.8),
        (PAPER, 0.3, "expert", 0.3),
        (FORUM, 0.9, "user-generated", 0.4),
        (PAPER + FORUM, 0.9, "user-generated", 0.4),
        ("", 1.0, "unknown", 0.6),
    ],
)
async def test_where_the_address_tells_nothing_a_page_gains_expert_at_most_and_is_never_moved_up(
    pool: Pool,
    embedder: Embedder,
    table: Callable[[str], None],
    head: str,
    score: float,
    kind: str,
    counts: float,
) -> None:
    table("unknown")
    assert await stored(pool, embedder, head, score=score) == (kind, counts)
    async with Store(Session(pool), embedder) as store:
        counted, _ = await recheck(store.facts, subject_id="bank")
    assert counted.scores == 0, "`chiron recompute` comes to the same"


@pytest.mark.parametrize(("kind", "counts"), [("user-generated", 0.4), ("general", 0.6), ("academic", 1.0)])
async def test_what_the_address_tells_no_metadata_changes(
    pool: Pool, embedder: Embedder, table: Callable[[str], None], kind: str, counts: float
) -> None:
    table(kind)
    head = FORUM if kind == "academic" else PAPER
    assert await stored(pool, embedder, head) == (kind, counts)


async def test_authors_and_doi_go_from_the_head_of_a_page_into_the_bibliography_as_they_are(
    pool: Pool, embedder: Embedder, table: Callable[[str], None]
) -> None:
    table("general")
    head = "".join(
        f'<meta name="citation_author" content="{name}">'
        for name in ("García Márquez, Gabriel", "van der Berg, Jan Pieter", "Ortega y Gasset, José")
    )
    dates = '<meta name="citation_date" content="2019/03/04"><meta property="article:modified_time" content="2025-05-06">'
    await stored(
        pool,
        embedder,
        f'<meta charset="utf-8">{head}{dates}<meta name="citation_doi" content="doi:10.1234/Rate">',
    )
    [row] = await Session(pool).rows("select author, authors from fetches")
    assert row["authors"] == ["García Márquez, Gabriel", "van der Berg, Jan Pieter", "Ortega y Gasset, José"]
    assert row["author"] == "; ".join(row["authors"])
    text = "".join(bibtex.render(await gather(pool, "bank", with_candidates=True)))
    assert (
        "author = {{García Márquez}, Gabriel and van der Berg, Jan Pieter and {Ortega y Gasset}, José}"
        in text
    )
    assert "doi = {10.1234/Rate}" in text
    assert "year = {2019},\n  month = {3}" in text
