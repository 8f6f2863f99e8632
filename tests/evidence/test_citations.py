"""Which facts an answer cites: its sentences name sources, and of the facts of a source they state some."""

import pytest

from chiron_workers.evidence.citations import read_answer, without_places
from chiron_workers.evidence.cited_facts import SourcedFact, cited_facts

PAGE = "https://lakes.example.org/table"
LAKES = [
    (f"Lake {name}", 100 + 13 * n)
    for n, name in enumerate(
        ["Ada", "Bela", "Cara", "Dora", "Ela", "Fina", "Gera", "Hala", "Ina", "Jora", "Kela", "Lora", "Mira",
         "Nola", "Ora", "Pela", "Rina", "Sola", "Tara", "Una", "Vela", "Wora", "Xena", "Yara", "Zola"]
    )
]  # fmt: skip
FIFTY = [
    SourcedFact(f"{name} {kind}", text, (PAGE,))
    for name, depth in LAKES
    for kind, text in (
        ("depth", f"{name} has a maximum depth of {depth} metres."),
        ("area", f"The surface of {name} covers {depth * 7} square kilometres."),
    )
]


def cited(answer: str, facts: list[SourcedFact]) -> set[str]:
    return set(cited_facts(read_answer(answer), facts, address=lambda url: url.rstrip("/")))


@pytest.mark.parametrize(
    ("answer", "fact_ids"),
    [
        (f"Lake Ela is {LAKES[4][1]} m deep at most ({PAGE}).", {"Lake Ela depth"}),
        (
            f"At {LAKES[9][1]} metres, Lake Jora is deep [1].\n\nSources:\n[1] Table {PAGE}",
            {"Lake Jora depth"},
        ),
        (f"Lake Tara covers {LAKES[18][1] * 7:,} km² [1].\n\n## References\n1. {PAGE}", {"Lake Tara area"}),
        (
            f"Lake Ada is {LAKES[0][1]} m deep at most and its surface covers {LAKES[0][1] * 7} square kilometres [1].\n"
            f"Sources\n- [1]: {PAGE}",
            {"Lake Ada depth", "Lake Ada area"},
        ),
        (
            f"- Depths: Lake Ina {LAKES[8][1]} m, Lake Ora {LAKES[14][1]} m. [1, 2]\n\nSources:\n[1] {PAGE}\n[2] https://b.org/x",
            {"Lake Ina depth", "Lake Ora depth"},
        ),
        (f"The table was drawn in spring ({PAGE}).", set()),
        ("Lake Ela is 152 metres deep at most (https://elsewhere.example.org/).", set()),
        ("Lake Ela is 152 metres deep at most.", set()),
        # A source of the list that no sentence names.
        (
            f"Lake Zola has a maximum depth of {LAKES[24][1]} metres.\n\nSources:\n- {PAGE}",
            {"Lake Zola depth"},
        ),
    ],
)
def test_a_sentence_cites_of_fifty_facts_of_its_source_those_that_it_states(
    answer: str, fact_ids: set[str]
) -> None:
    assert cited(answer, FIFTY) == fact_ids


def test_a_sentence_in_another_language_cites_the_fact_whose_numbers_and_names_it_has() -> None:
    answer = f"Der See Lora ist an seiner tiefsten Stelle {LAKES[11][1]} Meter tief ({PAGE})."
    assert cited(answer, FIFTY) == {"Lake Lora depth"}


def test_sentences_without_spaces_between_words_cite_facts() -> None:
    facts = [
        SourcedFact("depth", "琵琶湖の最大水深は104メートルである。", (PAGE,)),
        SourcedFact("area", "琵琶湖の面積は670平方キロメートルである。", (PAGE,)),
    ]
    assert cited(f"琵琶湖の面積は約670平方キロメートルです ({PAGE})。", facts) == {"area"}


def test_an_answer_cites_the_facts_whose_ids_it_names() -> None:
    fact_id = "0198c0de-7a3b-7c11-9d52-3f6a51e0b7aa"
    facts = [
        SourcedFact(fact_id, "Old ice is thick.", (PAGE,)),
        SourcedFact("other", "Ice is cold.", (PAGE,)),
    ]
    assert cited(f"It is thick, by fact {fact_id.upper()}.", facts) == {fact_id}


def test_the_only_fact_of_a_source_is_cited_by_a_sentence_that_shares_a_word_with_it() -> None:
    facts = [SourcedFact("ice", "Young ice has a mean thickness of a metre.", (PAGE,))]
    assert cited(f"Ice that formed this winter is about one metre thick ({PAGE}/).", facts) == {"ice"}
    assert cited(f"Nobody knows the age of whales ({PAGE}).", facts) == set()


def test_facts_count_under_each_of_their_sources() -> None:
    facts = [SourcedFact("ice", "Old ice is thick.", ("https://a.org/x", "https://b.org/y"))]
    assert cited("Old ice is thick (https://b.org/y).", facts) == {"ice"}


@pytest.mark.parametrize("text", ["A fact.", "See [9].", "[1]", "", "In [2024] it was so."])
def test_an_answer_without_sources_has_no_citations(text: str) -> None:
    assert not read_answer(text).has_citations


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", ["Lake depth. ", f"Lake depth ({PAGE}). ", f"[1] {PAGE}\n", "[1-999] "])
def test_an_answer_that_is_made_to_be_slow_to_match_is_not(unit: str) -> None:
    facts = [SourcedFact(str(n), f"Lake number {n} has a depth of {n} m.", (PAGE,)) for n in range(2_000)]
    cited(unit * (100_000 // len(unit)) + f"\nSources\n- {PAGE}", facts)


def test_read_answer_finds_numbers_and_addresses_only_where_its_own_list_has_them() -> None:
    answer = read_answer(
        f"Ice floats [1]. Lead sinks ({PAGE}) [2].\n\nSources\n[1] https://ice.example.org/a"
    )
    assert [sentence.addresses for sentence in answer.sentences] == [("https://ice.example.org/a",), (PAGE,)]
    unlisted = read_answer("Ice floats [1]; so-called well-known half-true by-words are not ids.")
    assert [(sentence.addresses, sentence.fact_ids) for sentence in unlisted.sentences] == [((), ())]
    assert without_places("Ice   floats [1].", {}) == "Ice floats [1]."
