import pytest
from merging import pairs, scored

from chiron_workers.evidence.merging import relation
from chiron_workers.states import Relation


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("The wall is 5 km long.", "The wall is 5,000 metres long"),
        ("Mars has two moons.", "Mars has 2 moons."),
        ("At sea level, water boils at 100 °C.", "Water boils at 100 °C at sea level."),
        ("In 1937 the bridge opened.", "in 1937 the bridge  opened"),
        ("The colour of the harbour is grey.", "The color of the harbor is gray."),
        ("Die Stadt hat 5 Einwohner.", "die Stadt hat 5 Einwohner"),
        ("水在100度沸腾。", "水在100度沸腾。"),
    ],
)
def test_statements_that_agree_in_all_that_counts_are_the_same(new, known):
    assert relation(new, known).relation is Relation.SAME
    assert relation(known, new).relation is Relation.SAME


@pytest.mark.parametrize(
    ("new", "known", "reason"),
    [
        ("The uptime was 99.9 %.", "The uptime was 99.5 percent.", "99.9 % against 99.5 percent."),
        ("The tower is 330 metres tall.", "The tower is 324 m high.", "330 metres against 324 m."),
        ("The bridge opened in 1937.", "The bridge opened in 1938.", "1937 against 1938."),
        ("The drug is not effective.", "The drug is effective.", '"not" stands in one of them only.'),
        ("The drug is ineffective.", "The drug is effective.", '"ineffective" against "effective".'),
        ("Sales rose by 5 % in 2020.", "Sales fell by 5 % in 2020.", '"rose" against "fell".'),
        ("It was founded by Ann Smith.", "It was founded by Bob Miller.", "ann smith against bob miller."),
    ],
)
def test_a_slot_that_both_fill_differently_is_a_contradiction_either_way_round(new, known, reason):
    assert (relation(new, known).relation, relation(new, known).reason) == (Relation.CONTRADICTS, reason)
    assert relation(known, new).relation is Relation.CONTRADICTS


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("Water boils at 100 °C at sea level.", "Water boils at 100 °C."),
        ("The vaccine is approved in adults.", "The vaccine is approved."),
        ("The drug may cause nausea.", "The drug causes nausea."),
        ("The bridge opened on 27 May 1937.", "The bridge opened in 1937."),
    ],
)
def test_a_condition_a_hedge_or_a_closer_date_qualifies_what_is_known(new, known):
    assert relation(new, known).relation is Relation.QUALIFIES
    assert relation(known, new).relation not in {Relation.SAME, Relation.QUALIFIES}


@pytest.mark.parametrize(
    ("new", "known"),
    [
        ("Germany defeated France in 1940.", "Germany was defeated by France in 1940."),
        ("Cats eat mice.", "Mice eat cats."),
        ("It is safe and not legal.", "It is not safe and legal."),
        ("All cats and some dogs came.", "Some cats and all dogs came."),
        ("C++ is fast.", "C# is fast."),
        ("Apollo 11 landed.", "Apollo 12 landed."),
        ("It holds if x < y.", "It holds if x > y."),
        ("Anna has 5 cats and 3 dogs.", "Anna has 3 cats and 5 dogs."),
        ("The moon is about 384,000 km away.", "The moon is 384,400 km away."),
        ("The population was 5 million in 2010.", "The population was 6 million in 2020."),
        ("Berlin has a metro.", "Paris has a metro."),
        ("Die Stadt hat 5 Einwohner.", "Die Stadt hat 6 Einwohner."),
        ("水在100度沸腾。", "水在90度沸腾。"),
    ],
)
def test_what_a_small_word_or_the_order_turns_around_is_never_the_same(new, known):
    assert relation(new, known).relation is not Relation.SAME
    assert relation(known, new).relation is not Relation.SAME


def test_on_pairs_that_somebody_else_labelled_nothing_is_merged_away_and_contradictions_are_some() -> None:
    labelled = pairs("development")
    score = scored(labelled)
    print(f"\n{score.table()}")
    lost = [pair.id for pair, verdict in score.wrong if verdict.relation is Relation.SAME]
    assert lost == []
    assert score.precision(Relation.CONTRADICTS) >= 0.95
    assert score.right >= 0.95
    assert score.decided >= 0.25


def test_no_pair_is_merged_either_way_round_that_is_not_labelled_the_same() -> None:
    turned = [pair for pair in pairs("development") if pair.label is not Relation.SAME]
    assert [pair.id for pair in turned if relation(pair.known, pair.new).relation is Relation.SAME] == []
