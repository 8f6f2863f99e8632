"""Questions of all three kinds, made of facts without understanding them."""

from typing import Any

from chiron_workers.offline.researcher.questions import new_questions

SCOPE = "If a name is bound in a block, it belongs to the scope of that block."
ERROR = "An UnboundLocalError is raised when a local name has no value at that place."
LIMIT = "A block nests at most 20 deep in other blocks."
FIRST = "A namespace maps names to objects of the program."
SECOND = "Every module has a namespace of its own."


def fact(number: int, statement: str, **more: Any) -> dict[str, Any]:
    usual = {"topic_path": "Binding", "sources": [f"corpus://x/{number}"]}
    return {"fact_id": f"f{number}", "statement": statement} | usual | more


def questions(*facts: dict[str, Any]) -> list[dict[str, Any]]:
    made = new_questions(facts)
    for question in made:
        assert question["key"] in question["statement"]
        assert question["key"].casefold() not in question["question"].casefold().split("? ", 1)[-1]
        assert question["fact_ids"]
    return made


def test_a_number_is_asked_for_before_a_word() -> None:
    [question] = questions(fact(1, LIMIT))
    assert (question["kind"], question["key"]) == ("recall", "at most 20")
    assert question["question"] == f"What belongs in the gap? {LIMIT.replace('at most 20', '____')}"


def test_a_name_is_asked_for_before_other_words() -> None:
    keys = [question["key"] for question in questions(fact(1, ERROR)) if question["kind"] == "recall"]
    assert keys == ["UnboundLocalError"]


def test_what_a_fact_says_of_a_case_is_asked_of_that_case() -> None:
    cases = [item for item in questions(fact(1, ERROR), fact(2, SCOPE)) if item["kind"] == "application"]
    assert [(case["question"], case["key"]) for case in cases] == [
        (
            "Take this case: a local name has no value at that place. What follows?",
            "An UnboundLocalError is raised",
        )
    ]


def test_a_word_that_facts_of_two_sources_share_is_asked_for_in_both() -> None:
    first, second = fact(1, FIRST), fact(2, SECOND)
    [transfer] = [item for item in questions(first, second) if item["kind"] == "transfer"]
    assert (transfer["key"], transfer["fact_ids"]) == ("namespace", ["f1", "f2"])
    assert transfer["question"].count("____") == 2
    assert transfer["statement"] == f"{FIRST.rstrip('.')}; every module has a namespace of its own."
    same_source = {"sources": ["corpus://x/1"]}
    kinds = {item["kind"] for item in questions(first | same_source, second | same_source)}
    assert kinds == {"recall"}


def test_one_of_each_kind_comes_first() -> None:
    kinds = [question["kind"] for question in questions(fact(1, ERROR), fact(2, FIRST), fact(3, SECOND))]
    assert kinds[:3] == ["recall", "application", "transfer"]


def test_nobody_is_asked_about_what_is_contradicted() -> None:
    assert questions(fact(1, ERROR, contradicted_by=["f2"])) == []


def test_no_word_is_asked_for_twice() -> None:
    made = questions(fact(1, FIRST), fact(2, SECOND), fact(3, ERROR))
    words = [question["key"].casefold() for question in made]
    assert len(set(words)) == len(words)
