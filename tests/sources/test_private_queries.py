"""Words that stand only in private files which a run has read do not leave in its search queries."""

import base64
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from aiohttp import web
from support.run_harness import OneStep, Stage
from support.scripted_model import Block, call, calls, says, turn
from support.scripted_sites import Site, serving

from chiron_workers.runs.leases import say
from chiron_workers.runs.session import Caller, Session
from chiron_workers.sources.sources import Page
from chiron_workers.states import Outcome
from chiron_workers.store import Store
from chiron_workers.tools import registry

LETTER = "Ottilie Kranzberger of Wyckhorn holds account 48213377. She studies neap tides and turbines."
QUOTE = "Ottilie Kranzberger of Wyckhorn holds account 48213377."


@dataclass
class Scene:
    stage: Stage
    site: Site
    letter: Path

    def read(self) -> Block:
        return call("file_reader", path=str(self.letter))

    async def play(self, topic: str, *steps: Block | list[Block]) -> UUID:
        """Play a run whose model makes these calls, one reply after the other."""
        [run_id] = await self.stage.submit(topic)
        await self.resume(run_id, *steps)
        return run_id

    async def resume(self, run_id: UUID, *steps: Block | list[Block]) -> None:
        replies = iter([calls(*(step if isinstance(step, list) else [step])) for step in steps])
        await self.stage.model(lambda request: next(replies, says("Done.")))
        assert await self.stage.play(run_id) is Outcome.PLAYED

    def queries(self) -> list[str]:
        """What has reached the search provider."""
        return [request for request in self.site.requests if request.startswith("/search")]

    async def refusals(self, run_id: UUID) -> list[str]:
        rows = await self.stage.rows(
            "select body from tool_results where run_id = %s and is_error order by n", run_id
        )
        return [row["body"] for row in rows]


def search(query: str) -> Block:
    return call("web_search", query=query, subject_id="physics")


@pytest.fixture
async def scene(stage: Stage, setting: Callable[[str, str], None], tmp_path: Path) -> AsyncIterator[Scene]:
    (tmp_path / "papers").mkdir()
    letter = tmp_path / "papers" / "letter.txt"
    letter.write_text(LETTER)
    async with serving() as site:
        site.answers["/search"] = lambda request: web.json_response({"results": []})
        setting("SEARCH", "corpus,searxng")
        setting("SEARCH_URLS", json.dumps({"searxng": site.url}))
        setting("FILES", str(letter.parent))
        stage.registry = registry()
        yield Scene(stage, site, letter)


async def test_a_query_with_words_of_a_private_file_is_refused_and_the_error_names_them(scene: Scene) -> None:
    run_id = await scene.play("tides", scene.read(), search("Kranzberger account 48213377 turbines"))
    assert scene.queries() == []
    [refusal] = await scene.refusals(run_id)
    assert "Kranzberger" in refusal
    assert "48213377" in refusal
    assert "turbines" not in refusal


async def test_common_words_and_words_of_the_topic_and_of_a_person_go_out(scene: Scene) -> None:
    topic = "What does Kranzberger say of turbines?"
    run_id = await scene.play(topic, scene.read(), search("Kranzberger turbines"), search("neap tides"))
    assert [len(scene.queries()), await scene.refusals(run_id)] == [2, []]
    await say(scene.stage.pool, run_id, "Look for Wyckhorn, too.")
    await scene.resume(run_id, search("Wyckhorn"))
    assert len(scene.queries()) == 3


async def test_words_that_stand_in_public_pages_of_the_run_go_out(scene: Scene) -> None:
    [run_id] = await scene.stage.submit("tides")
    batch_id = (await scene.stage.row(run_id))["batch_id"]
    async with Store(
        Session(scene.stage.pool, Caller("local", run_id, batch_id)), scene.stage.embedder
    ) as store:
        await store.sources.save(
            Page("https://example.org/", "Ottilie Kranzberger won a prize.", "text/plain")
        )
    await scene.resume(run_id, scene.read(), search("Kranzberger prize"), search("Kranzberger Wyckhorn"))
    assert len(scene.queries()) == 1
    assert "Wyckhorn" in (await scene.refusals(run_id))[0]


async def test_a_page_that_lists_all_numbers_makes_no_pin_public(scene: Scene) -> None:
    scene.letter.write_text("The door opens with 4711, the safe of Wyckhorn with 4812.")
    [run_id] = await scene.stage.submit("tides")
    batch_id = (await scene.stage.row(run_id))["batch_id"]
    pages = {"a": " ".join(f"{n:04}" for n in range(10_000)), "b": "Wyckhorn has a cinema."}
    async with Store(
        Session(scene.stage.pool, Caller("local", run_id, batch_id)), scene.stage.embedder
    ) as store:
        for name, text in pages.items():
            await store.sources.save(Page(f"https://example.org/{name}", text, "text/plain"))
    await scene.resume(
        run_id, scene.read(), search("what is 4711"), search("4812 cinema"), search("Wyckhorn cinema")
    )
    assert len(scene.queries()) == 1
    assert ["4711" in refusal or "4812" in refusal for refusal in await scene.refusals(run_id)] == [
        True,
        True,
    ]


async def test_what_a_model_says_itself_makes_no_word_public(scene: Scene) -> None:
    note = call("save_note", title="Kranzberger", text="Wyckhorn 48213377")
    run_id = await scene.play("tides", scene.read(), note, search("Kranzberger Wyckhorn 48213377"))
    assert scene.queries() == []
    assert "Kranzberger" in (await scene.refusals(run_id))[-1]


@pytest.mark.parametrize(
    "query",
    [
        "Kranz berger",
        "K r a n z b e r g e r",
        "k-r-a-n-z-b-e-r-g-e-r",
        "48 213 377",
        base64.b64encode(b"Ottilie Kranzberger").decode(),
        b"Kranzberger".hex(),
        "regrebznarK",
        "kilo romeo alpha november zulu bravo echo romeo golf echo romeo",
        "four eight two one three three seven seven",
        "%4b%72%61%6e%7a%62%65%72%67%65%72",
    ],
)
async def test_a_query_with_private_words_that_are_split_or_encoded_is_refused(
    scene: Scene, query: str
) -> None:
    run_id = await scene.play("tides", scene.read(), search(query))
    assert scene.queries() == []
    assert len(await scene.refusals(run_id)) == 1


@pytest.mark.parametrize("is_parallel", [True, False])
async def test_a_private_word_does_not_leave_in_the_pieces_of_several_queries(
    scene: Scene, is_parallel: bool
) -> None:
    halves = [search("news of Kran"), search("zberger now")]
    pieces = [search("old jobs at Wyc"), search("the khorn")]
    steps = [halves, pieces] if is_parallel else [*halves, *pieces]
    await scene.play("tides", scene.read(), *steps)
    sent = "".join(scene.queries()).lower()
    assert not ("kran" in sent and "zberger" in sent)
    assert not ("wyc" in sent and "khorn" in sent)


async def test_private_words_stay_refused_when_a_run_is_resumed_after_a_crash(scene: Scene) -> None:
    [run_id] = await scene.stage.submit("tides")
    replies = [calls(scene.read()), calls(search("Kranzberger")), says("Done.")]
    await scene.stage.model(lambda request: replies[turn(request)])
    outcome = Outcome.LEFT
    while outcome is not Outcome.PLAYED:  # each step by another worker
        execution = scene.stage.execution(await scene.stage.claim(run_id))
        execution.__class__ = OneStep
        outcome = await execution.execute()
        await scene.stage.end_waiting()
    assert scene.queries() == []
    assert "Kranzberger" in (await scene.refusals(run_id))[0]


async def test_a_run_that_recalls_facts_of_private_files_sends_none_of_their_words(scene: Scene) -> None:
    fact = call(
        "store_knowledge",
        content="Ottilie Kranzberger of Wyckhorn holds account 48213377.",
        subject_id="physics",
        source_url=scene.letter.as_uri(),
        source_score=0.9,
        topic_path="people",
        confidence=0.9,
        quote=QUOTE,
    )
    await scene.play("tides", scene.read(), fact)
    recall = call("knowledge_base", question="Who holds an account?", subject_id="physics")
    run_id = await scene.play("moons", search("Wyckhorn"), recall, search("Kranzberger"))
    assert len(scene.queries()) == 1  # before it was recalled, the word was the model's own
    assert "Kranzberger" in (await scene.refusals(run_id))[0]


async def test_a_person_can_allow_private_queries(scene: Scene, setting: Callable[[str, str], None]) -> None:
    setting("PRIVATE_QUERIES", "allow")
    run_id = await scene.play("tides", scene.read(), search("Kranzberger"))
    assert [len(scene.queries()), await scene.refusals(run_id)] == [1, []]


async def test_providers_that_ask_nobody_outside_get_every_query(
    scene: Scene, setting: Callable[[str, str], None]
) -> None:
    setting("SEARCH", "corpus")
    run_id = await scene.play("tides", scene.read(), search("Kranzberger"))
    assert await scene.refusals(run_id) == []


async def test_errors_that_quote_a_private_file_are_private_too(scene: Scene) -> None:
    table = scene.letter.with_name("accounts.csv")
    table.write_text("name,account\nKranzberger,48213377\n")
    query = call("data_table", paths=[str(table)], query="select cast(name as int) from accounts")
    run_id = await scene.play("tides", query, search("Kranzberger"))
    assert scene.queries() == []
    assert len(await scene.refusals(run_id)) == 2
