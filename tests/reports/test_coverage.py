from chiron_api.reports.coverage import cover


def node(title: str, *children: dict, node_id: str = "") -> dict:
    for child in children:
        child["parent_id"] = node_id or title
    return {
        "node_id": node_id or title,
        "title": title,
        "parent_id": None,
        "is_goal_critical": False,
        "children": list(children),
    }


def facts(tops: list[dict], paths: dict[str, int]) -> dict[str, int]:
    return {line.node_id: line.facts for line in cover(tops, paths)[0] if line.facts}


def test_a_fact_belongs_to_the_deepest_node_that_its_path_names():
    tops = [node("Ice", node("Thickness", node("Sonar")))]
    assert facts(tops, {"ice/thickness": 2, "ICE/Thickness/sonar": 3, "ice/thickness/by hand": 4}) == {
        "Thickness": 6, "Sonar": 3
    }  # fmt: skip


def test_titles_are_compared_as_people_compare_them():
    assert facts([node("Data-Model (SQL)")], {"python/data model sql": 1}) == {"Data-Model (SQL)": 1}


def test_titles_that_differ_in_signs_or_vowel_marks_alone_stay_apart():
    tops = [node(title) for title in ("C", "C++", "C#", "++", "\u0915\u093f", "\u0915\u0940")]
    paths = {"languages/c++": 1, "C#": 2, "c": 3, "++": 4, "\u0915\u093f": 5, "\u0915\u0940": 6}
    assert facts(tops, paths) == {"C++": 1, "C#": 2, "C": 3, "++": 4, "\u0915\u093f": 5, "\u0915\u0940": 6}


def test_of_two_nodes_with_one_title_the_steps_before_decide():
    tops = [node("Arctic", node("Summer", node_id="a")), node("Antarctic", node("Summer", node_id="b"))]
    assert facts(tops, {"Antarctic/Summer": 5}) == {"b": 5}
    assert facts(tops, {"Summer": 1}) == {"a": 1, "b": 1}


def test_what_no_node_names_is_counted():
    lines, unmapped = cover([node("Ice")], {"snow/depth": 7, "ice": 1})
    assert ([line.facts for line in lines], unmapped) == ([1], 7)


def test_a_node_is_missing_only_if_nothing_below_it_is_known_either():
    lines, _ = cover([node("Ice", node("Age")), node("Snow", node("Depth"))], {"age": 1})
    assert [line.node_id for line in lines if line.is_missing] == ["Snow", "Depth"]
