from collections.abc import Mapping
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow
from support.research_rows import Shelf

from chiron_workers.db.connect import Pool, Query
from chiron_workers.knowledge.drafts.citable_facts import CitableFacts, Scope, digest_nodes
from chiron_workers.runs.session import Session


class CountedSession(Session):
    """Counts the statements that it is asked for."""

    statements = 0

    async def rows(
        self, query: Query, args: Mapping[str, Any] | None = None, *, prepare: bool | None = None
    ) -> list[DictRow]:
        self.statements += 1
        return await super().rows(query, args, prepare=prepare)


def map_of_ice(shelf: Shelf) -> list[str]:
    """A map of three levels with facts at all of them, of which one title is there twice; the ids of its nodes."""
    shelf.subject("ice")
    shelf.subject("sea")
    ice = shelf.node("ice", "Ice")
    thickness = shelf.node("ice", "Thickness", ice)
    sonar = shelf.node("ice", "Sonar", thickness)
    snow = shelf.node("ice", "Snow", ice)
    other_sonar = shelf.node("ice", "Sonar", snow)
    bare = shelf.node("ice", "Bare")
    shared = shelf.node("sea", "Salt", shared_with_subjects=["ice"])
    for n, path in enumerate(
        ["ice", "ice/thickness", "thickness/sonar", "sonar", "snow/sonar", "salt", "x/y"]
    ):
        shelf.fact("ice", f"Fact {n}.", "https://a.org/", path)
    shelf.fact("ice", "Not sure.", "https://a.org/", "bare", status="candidate", confidence=0.2)
    shelf.fact("sea", "Of another subject.", "https://a.org/", "ice")
    return [str(node) for node in (ice, thickness, sonar, snow, other_sonar, bare, shared)]


async def test_the_digests_of_all_nodes_are_those_of_each(pool: Pool, shelf: Shelf):
    node_ids = map_of_ice(shelf)
    session = Session(pool)
    single = {
        node_id: await CitableFacts(session, Scope(subject_id="ice", node_id=UUID(node_id))).digest()
        for node_id in node_ids
    }
    digests = await digest_nodes(session, "ice", node_ids)
    assert digests == {node_id: digest for node_id, digest in single.items() if digest}
    assert len(digests) == 6


async def test_many_nodes_cost_no_more_statements_than_one(pool: Pool, shelf: Shelf):
    node_ids = map_of_ice(shelf)
    for one_or_all in (node_ids[:1], node_ids):
        session = CountedSession(pool)
        await digest_nodes(session, "ice", one_or_all)
        assert session.statements == 5
    assert await digest_nodes(Session(pool), "ice", []) == {}
