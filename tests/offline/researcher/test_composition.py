"""In which order the facts of a text come, and which are left out."""

from chiron_workers.offline.researcher.composition import clear_facts, plain_first

STATEMENTS = (
    "If no scope has the name, an error is raised.",
    "Blocks of the program are executed one by one.",
    "The scopes of functions are nested.",
    "A scope is a region of the program.",
)


def test_what_a_topic_is_comes_first_and_single_cases_last() -> None:
    facts = [{"topic_path": "Scopes", "statement": statement} for statement in STATEMENTS]
    assert [fact["statement"] for fact in plain_first(facts)] == [
        "The scopes of functions are nested.",
        "A scope is a region of the program.",
        "Blocks of the program are executed one by one.",
        "If no scope has the name, an error is raised.",
    ]


def test_sentences_that_lean_on_others_are_left_out_where_enough_is_left() -> None:
    facts = [{"statement": statement} for statement in (*STATEMENTS, "It is nested.")]
    assert [fact["statement"] for fact in clear_facts(facts)] == [*STATEMENTS]
    assert len(clear_facts(facts[3:])) == 2
