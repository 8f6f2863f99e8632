"""Which nodes the topic path of a fact names."""

from chiron_workers.knowledge.coverage.topic_titles import NodeTitles, TitledNode


def test_the_title_of_a_merged_node_is_another_name_of_the_one_it_went_into() -> None:
    orbit = TitledNode(node_id="1", title="Orbit", parent_id=None)
    merged = TitledNode(node_id="1", title="Trajectory", parent_id=None)
    titles = NodeTitles([orbit], [merged])
    assert titles.nodes_of("moon/trajectory") == titles.nodes_of("moon/orbit") == ["1"]
    assert NodeTitles([orbit]).nodes_of("moon/trajectory") == []
