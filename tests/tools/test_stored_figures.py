"""Facts with identifiers, and with figures of several scripts, as they are stored and shown without a model to ask."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from chiron_workers.db.connect import Pool
from chiron_workers.runs.session import Session
from chiron_workers.sources.sources import Page, Sources

Call = Callable[..., Awaitable[Any]]

PAGE = (
    "日本の人口は約１億２５００万人で、面積は37万8000平方キロメートルである。 埠頭は1901年から使われている。"
)


async def store(call: Call, pool: Pool, url: str, page: str, content: str, quote: str = "") -> dict[str, Any]:
    async with Session(pool) as session:
        await Sources(session).save(Page(url, page, "text/html"))
    arguments = {
        "content": content,
        "subject_id": "figures",
        "source_url": url,
        "source_score": 0.9,
        "topic_path": "figures",
        "confidence": 0.9,
        "quote": quote or page,
    }
    receipt: dict[str, Any] = await call("store_knowledge", arguments)
    return receipt


@pytest.mark.parametrize(
    "template",
    [
        "Symphony number {} was first played in Vienna.",
        "HTTP/{} compresses the headers of requests.",
        "Apollo {} landed on the Moon in its year.",
        "Type {} diabetes is common among adults.",
        "Section {} covers the duties of tenants.",
        "The gene lies on chromosome {} of the mouse.",
    ],
)
async def test_facts_about_two_identifiers_stand_beside_each_other_undisputed(
    call: Call, pool: Pool, template: str
) -> None:
    for number, host in ((5, "a.org"), (9, "b.net")):
        content = template.format(number)
        receipt = await store(call, pool, f"https://{host}/", content, content)
        assert receipt["status"] == "stored"
        assert "related" not in receipt
    shown = await call("vector_search", {"query": template.format(5), "subject_id": "figures"})
    assert [fact["contradicted_by"] for fact in shown] == [[], []]


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("日本の人口は約1億2500万人である。", "日本の人口は約１億２５００万人で"),
        ("The population of Japan is about 125 million.", "日本の人口は約１億２５００万人で"),
        ("Japan has an area of 378,000 km².", "面積は37万8000平方キロメートルである。"),
        ("The quay has been in use since 1901.", "埠頭は1901年から使われている。"),
    ],
)
async def test_a_fact_rests_on_the_figures_of_another_script(
    call: Call, pool: Pool, content: str, quote: str
) -> None:
    receipt = await store(call, pool, "https://jp.example/", PAGE, content, quote)
    assert (receipt["status"], receipt["verdict"]) == ("stored", "unchecked")
    assert "does not" not in receipt["note"]


async def test_another_figure_than_that_of_the_page_is_pointed_out(call: Call, pool: Pool) -> None:
    content = "The population of Japan is about 152 million."
    receipt = await store(
        call, pool, "https://jp.example/", PAGE, content, "日本の人口は約１億２５００万人で"
    )
    assert receipt["verdict"] == "partly"
    assert "152 million" in receipt["note"]
