"""Batches of made-up facts, true sentences on them, and ways in which a draft can go wrong."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID
from zlib import crc32

from support.report_writing import cited
from support.research_rows import Shelf

PLACES = [
    "Tarvin",
    "Orla",
    "Brannoc",
    "Glim",
    "Vesper",
    "Quill",
    "Morrow",
    "Hask",
    "Lindal",
    "Pell",
    "Rook",
    "Sable",
    "Thorne",
    "Umber",
    "Wick",
    "Yarrow",
]
THINGS = {
    "bridge": ("is {n} metres long", "metres", "Its length is"),
    "mill": ("ground {n} tonnes of grain", "tonnes", "Grain"),
    "harbour": ("received {n} ships", "ships", "Ships"),
    "library": ("lent {n} books", "books", "Loans"),
    "quarry": ("employed {n} people", "people", "Staff"),
    "orchard": ("gave {n} kilograms of pears", "kilograms", "Pears"),
}
INVENTED = [
    "Visitors come from all over the world to see it.",
    "Experts agree that this is only the beginning.",
    "It was financed by a merchant family from the south.",
    "The decline is owed to poor management.",
    "Nobody had expected such a result.",
]
TRANSITIONS = [
    "Let us now turn to the details.",
    "In conclusion, the picture is mixed.",
    "Several points stand out here.",
]


@dataclass(frozen=True)
class MadeFact:
    """A fact, and the same in other words; `mutable` are the number, the year and the place that stand in both."""

    id: UUID
    content: str
    reworded: str
    number: str
    year: str
    place: str


@dataclass
class World:
    """A batch with facts of all kinds."""

    batch: UUID
    facts: list[MadeFact] = field(default_factory=list)
    withdrawn: list[MadeFact] = field(default_factory=list)
    superseded: list[MadeFact] = field(default_factory=list)
    candidates: list[MadeFact] = field(default_factory=list)
    strangers: list[MadeFact] = field(default_factory=list)
    sides: list[tuple[MadeFact, MadeFact]] = field(default_factory=list)


def made_world(shelf: Shelf, random: Random, *, name: str, facts: int = 12, pairs: int = 3) -> World:
    """A batch of research on made-up places, with contradictions, and with facts that may not be told."""
    shelf.subject(name, name.title())
    shelf.subject(f"{name}-elsewhere")
    world = World(shelf.batch(name, f"What is known of {name}?"))
    run = shelf.run(name, world.batch, f"What is known of {name}?")
    used: set[str] = set()

    def fact(subject: str = name, **more: Any) -> MadeFact:
        return _stored(shelf, random, subject, used, **({"run_id": run} if subject == name else {}) | more)

    world.facts = [fact() for _ in range(facts)]
    world.withdrawn = [fact(status="withdrawn") for _ in range(2)]
    world.superseded = [fact(status="superseded") for _ in range(2)]
    world.candidates = [fact(status="candidate", confidence=0.2) for _ in range(2)]
    world.strangers = [fact(f"{name}-elsewhere") for _ in range(2)]
    for _ in range(pairs):
        first = fact(status="disputed", confidence=0.6)
        number = str(int(first.number) + random.randrange(10, 90))
        words = first.content.replace(f" {first.number} ", f" {number} ")
        rival = _row(shelf, name, words, run_id=run, status="disputed", confidence=0.55)
        second = MadeFact(rival, words, words, number, first.year, first.place)
        shelf.link(second.id, first.id, "contradicts")
        world.sides.append((first, second))
    return world


def _stored(shelf: Shelf, random: Random, subject: str, used: set[str], **more: Any) -> MadeFact:
    while True:  # ends: there are more combinations than facts
        place, thing, year = (
            random.choice(PLACES),
            random.choice(sorted(THINGS)),
            str(random.randrange(1870, 2020)),
        )
        if f"{place} {thing}" not in used or len(used) > len(PLACES) * len(THINGS) // 2:
            break
    used.add(f"{place} {thing}")
    number = str(random.randrange(101, 999))
    verb, unit, head = THINGS[thing]
    content = f"In {year} the {thing} of {place} {verb.format(n=number)}."
    reworded = f"{head} of the {thing} at {place} for {year}: {number} {unit}."
    fact_id = _row(shelf, subject, content, topic_path=f"{thing}s/{place}", **more)
    return MadeFact(fact_id, content, reworded, number, year, place)


def _row(shelf: Shelf, subject: str, content: str, *, topic_path: str = "numbers", **more: Any) -> UUID:
    url = f"https://example.org/{topic_path}/{len(content)}-{crc32(content.encode())}"
    path = more.pop("path", topic_path)
    return shelf.fact(subject, content, url, path, quote=content, text=f"{content} The end.", **more)


Sentence = dict[str, Any]
Mutation = Callable[[World, MadeFact, str, Random], Sentence]


def _swapped(part: str) -> Mutation:
    def mutate(world: World, fact: MadeFact, text: str, random: Random) -> Sentence:
        old = getattr(fact, part)
        if part == "place":
            new = random.choice([place for place in PLACES if place != old])
        else:
            numbers = [int(old) + change for change in (-7, -1, 1, 13, 104)]
            # A round number may be a rounded one, which is for a judge to tell.
            new = str(random.choice([number for number in numbers if number % 10]))
        return cited(text.replace(old, new), fact.id)

    return mutate


def _of_state(kind: str) -> Mutation:
    def mutate(world: World, fact: MadeFact, text: str, random: Random) -> Sentence:
        other = random.choice(getattr(world, kind))
        is_own_words = text == fact.content
        return cited(other.content if is_own_words else other.reworded, other.id)

    return mutate


def _wrong_fact(world: World, fact: MadeFact, text: str, random: Random) -> Sentence:
    others = [other for other in world.facts if other.number != fact.number]
    return cited(text, random.choice(others).id)


def _one_side(world: World, fact: MadeFact, text: str, random: Random) -> Sentence:
    side = random.choice(random.choice(world.sides))
    return cited(side.content, side.id)


def _half_cited(world: World, fact: MadeFact, text: str, random: Random) -> Sentence:
    second = random.choice([other for other in world.facts if other.number not in {fact.number, fact.year}])
    return cited(f"{text[:-1]}, and {second.reworded[0].lower()}{second.reworded[1:]}", fact.id)


def _taken_side(world: World, fact: MadeFact, text: str, random: Random) -> Sentence:
    first, second = random.choice(world.sides)
    return cited(f"{first.content[:-1]}, and not {second.number}.", first.id, second.id)


MUTATIONS: dict[str, Mutation] = {
    "a number swapped": _swapped("number"),
    "a year swapped": _swapped("year"),
    "a name swapped": _swapped("place"),
    "a negation put in": lambda world, fact, text, random: cited(
        f"It is not so that {text[0].lower()}{text[1:]}", fact.id
    ),
    "a sentence invented": lambda world, fact, text, random: cited(random.choice(INVENTED), fact.id),
    "an invented sentence added to a true one": lambda world, fact, text, random: cited(
        f"{text} {random.choice(INVENTED)}", fact.id
    ),
    "a transition without a fact": lambda world, fact, text, random: cited(random.choice(TRANSITIONS)),
    "the fact's id dropped": lambda world, fact, text, random: cited(text),
    "another fact's id": _wrong_fact,
    "an id of no fact": lambda world, fact, text, random: cited(
        text, UUID(int=random.getrandbits(128), version=4)
    ),
    "a withdrawn fact": _of_state("withdrawn"),
    "a superseded fact": _of_state("superseded"),
    "one of two facts' ids dropped": _half_cited,
    "a candidate": _of_state("candidates"),
    "a fact of another subject": _of_state("strangers"),
    "one side of a contradiction": _one_side,
    "a side taken": _taken_side,
}
# What no judge is needed for: these are caught though a model finds everything supported.
WITHOUT_A_JUDGE = frozenset(MUTATIONS) - {
    "a name swapped", "a negation put in", "a sentence invented", "another fact's id", "a side taken",
}  # fmt: skip
