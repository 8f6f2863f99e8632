"""The map that the offline researcher makes of documents."""

import pytest

from chiron_workers.offline.researcher.curriculum import map_nodes, size_of

GOAL = "Understand how names and scopes work"
TEXT = (
    "A name refers to an object, and a scope says where the name is visible to a reader of the program. " * 4
)
DOCUMENTS = {
    "Names": f"Names\n\n{TEXT}",
    "Execution": f"Execution\n\nAll of it.\n\nBlocks\n\n{TEXT}\n\nNames\n\n{TEXT}\n\nScopes\n\n{TEXT}\n\nLight\n\nShort.",
    "Weather": f"Weather\n\n{'It rains often. ' * 30}\n\nHail\n\n{'It hails. ' * 60}",
}


def test_parts_stand_below_their_documents_and_no_title_twice() -> None:
    nodes = map_nodes(GOAL, GOAL, DOCUMENTS, size_of("practical"))
    parents = {node["title"]: node["parent"] for node in nodes}
    assert parents == {
        "Execution": GOAL,
        "Names": "Execution",
        "Blocks": "Execution",
        "Scopes": "Execution",
        "Weather": GOAL,
    }
    assert len(nodes) == len(parents)


@pytest.mark.parametrize(("depth", "count"), [("overview", 3), ("practical", 5), ("as far as it goes", 5)])
def test_the_deeper_a_goal_the_more_nodes(depth: str, count: int) -> None:
    assert len(map_nodes(GOAL, GOAL, DOCUMENTS, size_of(depth))) == count


def test_a_third_is_critical_and_that_is_what_the_goal_speaks_of() -> None:
    nodes = map_nodes(GOAL, GOAL, DOCUMENTS | {"Clouds": "Clouds"}, size_of("practical"))
    assert [node["title"] for node in nodes if node["is_goal_critical"]] == ["Names", "Scopes"]


def test_the_goal_itself_is_no_node_below_it() -> None:
    titles = [node["title"] for node in map_nodes(GOAL, "names", DOCUMENTS, size_of("overview"))]
    assert "Names" not in titles
