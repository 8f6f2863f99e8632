import pytest

from chiron_workers.evidence.statements.relation import relate
from chiron_workers.states import Relation


@pytest.mark.parametrize(
    "pair",
    [
        "The plant gives 5 MW.|The plant gives 5 mW.",
        "The link carries 10 Gb/s.|The link carries 10 GB/s.",
        "The feature came with Python 3.1.|The feature came with Python 3.10.",
        "Kernel 5.1 has it.|Kernel 5.10 has it.",
        "The rule is x = y.|The rule is x != y.",
        "It costs $10.|It costs A$10.",
        "The value is f(5!).|The value is f(5).",
        "WHO says so.|Who says so.",
        "The antidote works only if it is given early.|The antidote works never only if it is given early.",
        "It holds at most 5 t.|It holds under 5 t.",
        "It weighs about 5 t.|It weighs 5 t.",
        "Der Bär ist da.|Der Bar ist da.",
    ],
)
def test_statements_that_differ_in_a_sign_are_not_the_same(pair: str) -> None:
    new, known = pair.split("|")
    assert relate(new, known).relation is not Relation.SAME
    assert relate(known, new).relation is not Relation.SAME


@pytest.mark.parametrize(
    "pair",
    [
        "The Moon is round.|the Moon is  round",
        "The uptime was 99.50 %.|The uptime was 99.5 %.",
        "It opened on 12 May 1937.|It opened on May 12, 1937.",
    ],
)
def test_what_differs_in_form_only_is_the_same(pair: str) -> None:
    assert relate(*pair.split("|")).relation is Relation.SAME
