"""Where the nodes of a map stand."""

from itertools import pairwise

from chiron_api.http.page.subject.layers import LAYER_NODES_MAX, place_nodes


def test_a_node_stands_right_of_all_that_leads_to_it():
    places = place_nodes(["a", "b", "c", "d"], {"b": ["a"], "c": ["a", "b"], "d": ["a"]})
    assert [places[node].layer for node in "abcd"] == [0, 1, 2, 1]


def test_nodes_of_a_layer_keep_their_distance_and_stand_near_their_neighbours():
    nodes = ["top", "other", *(f"leaf {n}" for n in range(5))]
    places = place_nodes(nodes, {node: ["top"] for node in nodes[2:]})
    heights = sorted(places[node].height for node in nodes[2:])
    assert all(after - before >= 0.999 for before, after in pairwise(heights))
    assert min(heights) < places["top"].height < max(heights)


def test_a_circle_of_edges_and_an_unknown_node_are_no_obstacle():
    places = place_nodes(["a", "b", "c"], {"a": ["c"], "b": ["a"], "c": ["b", "gone"]})
    assert sorted(place.layer for place in places.values()) == [0, 1, 2]


def test_a_layer_that_is_full_goes_on_in_the_next_one():
    places = place_nodes([str(n) for n in range(2 * LAYER_NODES_MAX)], {})
    layers = [place.layer for place in places.values()]
    assert (layers.count(0), layers.count(1)) == (LAYER_NODES_MAX, LAYER_NODES_MAX)
