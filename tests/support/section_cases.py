"""Headings that claim too much and sentences that cite idly, each with a true sibling, about an invented river valley."""

from dataclasses import dataclass

# Facts by key.
FACTS = {
    "dam": "The Orla dam was built between 1931 and 1936.",
    "height": "The Orla dam is 84 metres high.",
    "power": "The power station at the Orla dam supplies 90,000 households.",
    "fish": "Salmon have not been seen above the Orla dam since it was built.",
    "ladder": "A fish ladder was added to the Orla dam in 1998.",
    "trout": "Trout use the fish ladder of the Orla dam in spring.",
    "silt": "Silt fills a fifth of the Orla reservoir.",
    "town": "The village of Tarvin was moved before the Orla valley was flooded.",
    "people": "Tarvin had 412 inhabitants when it was moved.",
    "church": "The church of Tarvin was rebuilt stone by stone on the hill.",
    "drug": "In a trial with 60 patients zolvan lowered blood pressure by 4 mmHg.",
    "effects": "Nine of 60 patients in the trial of zolvan reported headaches.",
    "cost": "A pack of zolvan costs 38 euros in Brannoc.",
    "plan": "The council of Brannoc has proposed a tram line to the harbour.",
    "tram": "The tram of Brannoc carried 2.1 million passengers in 2019.",
    "bus": "Buses in Brannoc run until midnight.",
    "bridge": "The Glim bridge has been closed to lorries since 2015.",
    "cracks": "Engineers found cracks in two piers of the Glim bridge.",
    "toll": "The toll on the Glim bridge was abolished in 2004.",
    "owls": "Barn owls nest in the tower of the Lindal mill.",
    "mill": "The Lindal mill ground its last corn in 1962.",
    "museum": "The Lindal mill has been a museum since 1971.",
    "visitors": "The museum in the Lindal mill had 18,000 visitors in 2018.",
    "pears": "The orchards of Pell grow eleven kinds of pear.",
    "frost": "Frost destroyed half of the pears of Pell in 2017.",
    "wasps": "Wasps of the species Vespula alta live in the orchards of Pell.",
    "code": "The library Quill is written in Rust.",
    "licence": "The library Quill is published under the MIT licence.",
    "speed": "Quill parses a file of 10 MB in 0.3 seconds on the authors' machine.",
    "users": "The program Hask uses the library Quill.",
    "choir": "The choir of Morrow rehearses on Tuesdays.",
    "organ": "The organ of Morrow has 1,900 pipes.",
    "fire": "A fire damaged the organ of Morrow in 1954.",
}


@dataclass(frozen=True)
class Heading:
    """A heading of a section on some facts, with its true sibling; `has_verb` where a rule can doubt it."""

    false: str
    true: str
    facts: tuple[str, ...]
    has_verb: bool


HEADINGS = [
    Heading("The Orla dam killed the salmon", "Salmon and the Orla dam", ("fish", "dam"), True),
    Heading("Success of the fish ladder for salmon", "The fish ladder", ("ladder", "fish"), False),
    Heading("The reservoir is nearly useless", "Silt in the reservoir", ("silt",), True),
    Heading("The forced drowning of Tarvin", "The move of Tarvin", ("town", "people"), False),
    Heading("Zolvan prevents strokes", "Zolvan and blood pressure", ("drug",), True),
    Heading("Zolvan, a safe and proven cure", "Zolvan in a trial", ("drug", "effects"), False),
    Heading("The overpriced medicine", "The price of zolvan", ("cost",), False),
    Heading("Tram line to the harbour will open soon", "A proposed tram line", ("plan",), True),
    Heading("Imminent collapse of the Glim bridge", "State of the Glim bridge", ("cracks", "bridge"), False),
    Heading("Why the mill failed", "The last corn of the mill", ("mill",), True),
    Heading("Climate change as the cause of the lost pears", "Frost in the orchards", ("frost",), False),
    Heading("Quill outperforms all parsers", "Speed of Quill", ("speed",), True),
    Heading("Safer and faster than its rivals", "Language and licence of Quill", ("code", "licence"), True),
    Heading("Arson at the church of Morrow", "Damage to the organ", ("fire", "organ"), False),
]


@dataclass(frozen=True)
class Citation:
    """A sentence with the facts that say a part of it, and those that its false version cites beside them."""

    text: str
    facts: tuple[str, ...]
    idle: tuple[str, ...]

    @property
    def is_in_own_words(self) -> bool:
        return len(self.facts) == 1 and self.text == FACTS[self.facts[0]]


# The last three are in a fact's words.
CITATIONS = [
    Citation("Building the Orla dam took from 1931 to 1936.", ("dam",), ("height",)),
    Citation("The dam at Orla rises to 84 metres.", ("height",), ("power",)),
    Citation(
        "Some 90,000 households get power from the station at the Orla dam.", ("power",), ("dam", "silt")
    ),
    Citation("Above the dam no salmon has been seen since its building.", ("fish",), ("trout",)),
    Citation("In 1998 the Orla dam was given a ladder for fish.", ("ladder",), ("fish",)),
    Citation("In spring trout climb the ladder at the dam.", ("trout",), ("ladder",)),
    Citation("One fifth of the reservoir at Orla is filled with silt.", ("silt",), ("height",)),
    Citation("Before the flooding of the Orla valley Tarvin was moved.", ("town",), ("church",)),
    Citation("When Tarvin was moved, 412 people lived there.", ("people", "town"), ("dam",)),
    Citation("Stone by stone the church of Tarvin was put up again on the hill.", ("church",), ("people",)),
    Citation("Zolvan lowered the blood pressure of 60 patients by 4 mmHg.", ("drug",), ("cost",)),
    Citation("Of 60 patients who took zolvan nine had headaches.", ("effects",), ("drug", "cost")),
    Citation("In Brannoc 38 euros buy a pack of zolvan.", ("cost",), ("effects",)),
    Citation("A tram to the harbour has been proposed by Brannoc's council.", ("plan",), ("bus",)),
    Citation("In 2019 Brannoc's tram had 2.1 million passengers.", ("tram",), ("plan",)),
    Citation("Until midnight one can take a bus in Brannoc.", ("bus",), ("tram", "plan")),
    Citation("Lorries may not cross the Glim bridge since 2015.", ("bridge",), ("toll",)),
    Citation("Two piers of the Glim bridge have cracks, engineers found.", ("cracks",), ("bridge",)),
    Citation("Since 2004 nobody pays a toll on the Glim bridge.", ("toll",), ("cracks",)),
    Citation("The tower of the mill at Lindal is home to barn owls.", ("owls",), ("museum",)),
    Citation("Corn was ground at Lindal until 1962.", ("mill",), ("visitors",)),
    Citation("Since 1971 there is a museum in the Lindal mill.", ("museum",), ("owls",)),
    Citation("In 2018 18,000 people visited the mill museum of Lindal.", ("visitors", "museum"), ("mill",)),
    Citation("Eleven kinds of pear grow in Pell.", ("pears",), ("wasps",)),
    Citation("In 2017 half of Pell's pears were lost to frost.", ("frost",), ("pears",)),
    Citation("The wasp Vespula alta is found in the orchards of Pell.", ("wasps",), ("frost",)),
    Citation("Quill is a library in Rust.", ("code",), ("speed",)),
    Citation("Quill may be used under the MIT licence.", ("licence",), ("users",)),
    Citation("Quill needs 0.3 seconds for 10 MB, its authors measured.", ("speed",), ("code", "licence")),
    Citation("Hask is built on the library Quill.", ("users",), ("licence",)),
    Citation(FACTS["choir"], ("choir",), ("organ",)),
    Citation(FACTS["organ"], ("organ",), ("choir", "fire")),
    Citation(FACTS["fire"], ("fire",), ("owls",)),
    Citation(FACTS["height"], ("height",), ("people",)),
]
