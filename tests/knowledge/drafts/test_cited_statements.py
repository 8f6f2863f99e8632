"""The key under which a verdict on a statement and its facts is stored."""

from dataclasses import replace

from chiron_workers.knowledge.drafts.citable_facts import CitableFact
from chiron_workers.knowledge.drafts.cited_statements import CitedStatement, Kind
from chiron_workers.states import FactStatus


def fact(fact_id: str, content: str, *opponents: str) -> CitableFact:
    return CitableFact(fact_id, content, "orla", FactStatus.ACCEPTED, 0.9, True, opponents, ())


HIGH, LOW = fact("a", "The dam is 84 metres high."), fact("b", "The dam is 79 metres high.")
OWLS = fact("c", "Owls nest at Orla.")
STATEMENT = CitedStatement(Kind.FACTS, "These facts can all be true together.", (HIGH, LOW, OWLS))


def test_which_facts_are_known_to_contradict_each_other_is_part_of_the_key() -> None:
    linked = replace(STATEMENT, facts=(replace(HIGH, opponents=("b",)), LOW, OWLS))
    otherwise_linked = replace(STATEMENT, facts=(HIGH, replace(LOW, opponents=("c",)), OWLS))
    assert len({STATEMENT.digest, linked.digest, otherwise_linked.digest}) == 3


def test_the_key_is_the_same_whichever_side_names_the_other_and_whatever_opposes_them_elsewhere() -> None:
    one_sided = replace(STATEMENT, facts=(replace(HIGH, opponents=("b",)), LOW, OWLS))
    two_sided = replace(
        STATEMENT, facts=(replace(HIGH, opponents=("b",)), replace(LOW, opponents=("a",)), OWLS)
    )
    assert one_sided.digest == two_sided.digest
    elsewhere = replace(STATEMENT, facts=(HIGH, LOW, replace(OWLS, opponents=("z",))))
    assert elsewhere.digest == STATEMENT.digest
