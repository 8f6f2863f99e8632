"""`chiron learn start|map|proposals|decide`: from a goal to a map, and who changes it."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from support.report_writing import offline_model
from support.run_harness import Stage
from typer.testing import Result

from chiron_workers.knowledge.coverage.nodes import draft
from chiron_workers.knowledge.coverage.proposals import Proposals
from chiron_workers.runs.session import Session
from chiron_workers.states import Outcome
from chiron_workers.tools import registry

Command = Callable[..., Result]
GOAL = "Understand names and attributes"
CHAPTERS = {
    "Naming and binding": "Names refer to objects. A scope defines where a name is visible.",
    "Attribute references": "Attributes are names behind a dot. Naming and binding says how names refer to objects.",
    "Emission of light": "Nothing about the matter.",
}


@pytest.fixture
async def corpus(chiron: Command, tmp_path: Path) -> None:
    """A subject with three documents of one's own."""
    for n, (title, text) in enumerate(CHAPTERS.items()):
        (tmp_path / f"{n}.md").write_text(f"# {n}. {title} - Guide\n\n{text}\n")
    await run(chiron, "corpus", "add", str(tmp_path), "--subject", "Guide")


async def run(chiron: Command, *arguments: str, code: int = 0) -> str:
    result = await asyncio.to_thread(chiron, *arguments)
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


async def mapped(stage: Stage, chiron: Command, *arguments: str) -> dict[str, Any]:
    """The receipt of a curriculum that was ordered and played."""
    stage.registry = registry()
    receipt = json.loads(
        await run(chiron, "learn", "start", "Guide", "--goal", GOAL, "--map-only", "--json", *arguments)
    )
    async with offline_model(stage):
        assert await stage.play(UUID(receipt["batch"]["run_ids"][0])) is Outcome.PLAYED
    return dict(receipt)


async def test_from_a_goal_to_a_map_without_a_model(stage: Stage, chiron: Command, corpus: None) -> None:
    receipt = await mapped(stage, chiron, "--depth", "overview")
    answer = (await stage.row(UUID(receipt["batch"]["run_ids"][0])))["answer"]
    assert "arranged by Chiron's offline researcher, a program without a language model" in answer
    tree = await run(chiron, "learn", "map", "guide")
    assert tree.splitlines()[0] == f"{GOAL} *  (no facts, after Attribute references)"
    assert "Naming and binding  (no facts)" in tree
    assert "Attribute references *  (no facts, after Naming and binding)" in tree
    mermaid = await run(chiron, "learn", "map", "guide", "--format", "mermaid")
    assert mermaid.startswith(f'flowchart TD\n  n1(["{GOAL}<br/>no facts"])')
    document = json.loads(await run(chiron, "learn", "map", "guide", "--format", "json"))
    assert document["tops"][0]["title"] == GOAL
    subject = (await stage.rows("select purpose_statement, target_depth from subjects"))[0]
    assert (subject["purpose_statement"], subject["target_depth"]) == (GOAL, "overview")


async def test_the_same_goal_is_one_run_and_mapped_again_it_adds_nothing(
    stage: Stage, chiron: Command, corpus: None
) -> None:
    receipt = await mapped(stage, chiron)
    nodes = await stage.rows("select id, prerequisites from nodes order by id")
    assert "was mapped before, batch" in await run(
        chiron, "learn", "start", "Guide", "--goal", GOAL, "--map-only"
    )
    second = await mapped(stage, chiron, "--again")
    assert second["batch"]["batch_id"] != receipt["batch"]["batch_id"]
    assert await stage.rows("select id, prerequisites from nodes order by id") == nodes


async def test_a_title_that_is_markup_ends_no_label_of_the_flowchart(stage: Stage, chiron: Command) -> None:
    async with Session(stage.pool) as session:
        node = draft(subject_id="guide", title='"]; click n1 "javascript:x" <script>', description="x")
        await Proposals(session).propose_node(node, reason="A page says so.")
    mermaid = await run(chiron, "learn", "map", "guide", "--format", "mermaid")
    assert 'n1["#34;#93;; click n1 #34;javascript:x#34; #60;script#62;<br/>no facts"]' in mermaid


async def test_a_terminal_obeys_no_title_and_no_reason_of_a_run(stage: Stage, chiron: Command) -> None:
    title, reason = "Ice\x1b[2J \u202eeci", "A page\x1b]0;owned\x07 says so.\x1b[31m\nOpen it."
    async with Session(stage.pool) as session:
        saved = await Proposals(session).propose_node(
            draft(subject_id="guide", title="Ice", description="x"), reason="A page says so."
        )
    await stage.rows("update nodes set title = %s where id = %s returning 1", title, saved["node_id"])
    await stage.rows("update node_proposals set reason = %s returning 1", reason)
    assert await run(chiron, "learn", "map", "guide") == "Ice eci  (no facts)\n"
    assert 'n1["Ice eci<br/>no facts"]' in await run(chiron, "learn", "map", "guide", "-f", "mermaid")
    listing = await run(chiron, "learn", "proposals", "guide")
    assert "add 'Ice eci'\n  why: A page says so. Open it.\n" in listing
    assert listing.isascii()


async def test_a_person_reads_what_is_proposed_and_decides(
    stage: Stage, chiron: Command, corpus: None
) -> None:
    await mapped(stage, chiron)
    async with Session(stage.pool) as session:
        node = draft(subject_id="guide", title="Slots", description="No dictionary.")
        proposed = await Proposals(session).propose_node(node, reason="A page says so.")
    listing = await run(chiron, "learn", "proposals", "guide")
    assert f"{proposed['proposal_id']}  open  add 'Slots'\n  why: A page says so.\n" in listing
    decided = ("learn", "decide", proposed["proposal_id"])
    assert "accepted" in await run(chiron, *decided, "--accept", "--reason", "It belongs here.")
    assert "Slots" in await run(chiron, "learn", "map", "guide")
    assert "accepted by local: It belongs here." in await run(chiron, "learn", "proposals", "guide")
    assert "accepted already" in await run(chiron, *decided, "--reject", "--reason", "No.", code=1)


@pytest.mark.parametrize(("choice", "state"), [("--accept", "accepted"), ("--reject", "rejected")])
async def test_the_trail_says_how_a_proposal_was_decided(
    stage: Stage, chiron: Command, corpus: None, choice: str, state: str
) -> None:
    await mapped(stage, chiron)
    async with Session(stage.pool) as session:
        node = draft(subject_id="guide", title="Slots", description="No dictionary.")
        proposal = (await Proposals(session).propose_node(node, reason="A page says so."))["proposal_id"]
    await run(chiron, "learn", "decide", proposal, choice, "--reason", "It is so.")
    [entry] = await stage.rows("select detail ->> 'state' as state from audit where target = %s", proposal)
    assert entry == {"state": state}


async def test_a_subject_without_a_map_teaches_the_next_step(
    stage: Stage, chiron: Command, corpus: None
) -> None:
    assert "guide has no map yet. `chiron learn start guide" in await run(chiron, "learn", "map", "Guide")
    assert "There is no subject 'nowhere'" in await run(chiron, "learn", "map", "nowhere", code=1)


@pytest.mark.parametrize("act", ["start", "journey", "research", "decide"])
async def test_what_cannot_be_recorded_is_not_done_and_what_is_done_is_recorded_once(
    stage: Stage, chiron: Command, corpus: None, act: str
) -> None:
    await mapped(stage, chiron)
    async with Session(stage.pool) as session:
        node = draft(subject_id="guide", title="Slots", description="No dictionary.")
        proposal = (await Proposals(session).propose_node(node, reason="A page says so."))["proposal_id"]
    arguments = {
        "start": ("start", "Guide", "--goal", "Another goal", "--map-only"),
        "journey": ("start", "Guide", "--goal", "Another goal"),
        "research": ("research", "Guide"),
        "decide": ("decide", proposal, "--accept", "--reason", "It is so."),
    }[act]
    made = "select (select count(*) from batches) as batches, (select count(*) from nodes) as nodes"
    [before] = await stage.rows(made)
    entries = len(await stage.rows("select 1 from audit"))
    async with stage.pool.connection() as connection:
        await connection.execute("alter table audit add constraint closed check (false) not valid")
    assert (await asyncio.to_thread(chiron, "learn", *arguments)).exit_code == 1
    assert await stage.rows(made) == [before]
    async with stage.pool.connection() as connection:
        await connection.execute("alter table audit drop constraint closed")
    await run(chiron, "learn", *arguments)
    targets = [row["target"] for row in await stage.rows("select target from audit order by id")]
    assert len(targets) == entries + 1
    assert targets[-1] == (proposal if act == "decide" else "guide")
    assert await stage.rows(made) != [before]
