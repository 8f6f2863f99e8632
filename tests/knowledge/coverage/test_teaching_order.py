"""The order in which nodes are taught: never one before what it needs."""

from graphlib import CycleError
from random import Random

import pytest

from chiron_workers.knowledge.coverage.prerequisites import teaching_order

MAPS = 300
SEED = 20_261


def test_over_random_maps_no_node_is_taught_before_what_it_needs() -> None:
    print(f"seeds {SEED} to {SEED + MAPS - 1}")
    for seed in range(SEED, SEED + MAPS):
        random = Random(seed)
        nodes = list(range(random.randrange(1, 60)))
        random.shuffle(nodes)
        needs = {
            node: random.sample(range(node), random.randrange(min(node, 4) + 1)) if node else []
            for node in nodes
        }
        order = teaching_order(needs)
        assert sorted(order) == sorted(nodes)
        places = {node: n for n, node in enumerate(order)}
        assert all(places[need] < places[node] for node in nodes for need in needs[node])


def test_nodes_that_need_nothing_keep_their_order_and_strangers_are_passed_over() -> None:
    assert teaching_order({"c": [], "a": ["b"], "b": ["elsewhere"], "d": []}) == ["c", "b", "a", "d"]


def test_a_circle_has_no_order() -> None:
    with pytest.raises(CycleError):
        teaching_order({"a": ["b"], "b": ["a"]})
