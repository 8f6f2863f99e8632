"""Cells whose value stands in a fact: wrong ones, which say something else than the fact, and right ones."""

from dataclasses import dataclass

COLUMNS = (
    "name, licence, winner, released:int, price:float, effect, capital, author, opened:date, page:url, free:bool, height:float, "
    "material, patients:int, founder"
)
DESCRIPTIONS = {
    "released": "The year of the first public release",
    "price": "The price of one pack in euros",
    "height": "The height in metres",
    "patients": "How many patients took part",
}


@dataclass(frozen=True)
class CellCase:
    """A value of a column for the thing of a row, and the fact it rests on."""

    row: str
    column: str
    value: str | int | float | bool
    fact: str


WRONG = [
    CellCase("SQLite", "licence", "GPL", "MySQL is published under the GPL."),
    CellCase("Final of 2014", "winner", "Arden", "Arden lost the final of 2014."),
    CellCase("Quill", "released", 2012, "Development of Quill began in 2012, and it was released later."),
    CellCase("Zolvan", "price", 38.0, "A pack of zolvan costs 38 dollars."),
    CellCase("Zolvan", "effect", "lower blood pressure", "Zolvan was hoped to lower blood pressure."),
    CellCase("Brannoc", "capital", "Tarvin", "Tarvin was the capital of Brannoc until 1891."),
    CellCase("The Long Tide", "author", "Mira Hask", "Mira Hask translated The Long Tide."),
    CellCase("Glim bridge", "opened", "2015-03-09", "The Glim bridge was closed on 9 March 2015."),
    CellCase("Quill", "page", "https://example.org/hask", "Hask has the page https://example.org/hask."),
    CellCase("Hask", "free", True, "Hask is free for the first month and paid from then on."),
    CellCase("Orla dam", "height", 84.0, "The Orla dam is 84 feet high."),
    CellCase("Statue of Lindal", "material", "bronze", "A copy of the statue of Lindal is of bronze."),
    CellCase("Trial A", "patients", 60, "Trial A was to have 60 patients, and trial B had 112."),
    CellCase("Morrow choir", "founder", "Ada Pell", "Ada Pell left the Morrow choir over its founder."),
    CellCase("Cup of 2019", "winner", "Wick", "Many expected Wick to win the cup of 2019."),
]
RIGHT = [
    CellCase("MySQL", "licence", "GPL", "MySQL is published under the GPL."),
    CellCase("Final of 2014", "winner", "Umber", "Umber won the final of 2014."),
    CellCase("Quill", "released", 2014, "Quill was first released in 2014."),
    CellCase("Zolvan", "price", 34.0, "In Brannoc a pack of zolvan costs 34 euros."),
    CellCase("Zolvan", "effect", "lowers blood pressure", "In patients zolvan lowers blood pressure."),
    CellCase("Brannoc", "capital", "Lindal", "Lindal has been the capital of Brannoc since 1891."),
    CellCase("The Long Tide", "author", "Jo Rook", "Jo Rook wrote The Long Tide."),
    CellCase("Glim bridge", "opened", "1968-05-02", "The Glim bridge was opened on 2 May 1968."),
    CellCase(
        "Hask", "page", "https://example.org/hask-app", "Hask has the page https://example.org/hask-app."
    ),
    CellCase("Quill", "free", True, "Quill is free of charge for everybody."),
    CellCase("Orla dam", "height", 25.6, "The Orla dam has a height of 25.6 metres."),
    CellCase("Statue of Lindal", "material", "limestone", "The statue of Lindal is of limestone."),
    CellCase("Trial B", "patients", 112, "In trial B 112 patients took part."),
    CellCase("Morrow choir", "founder", "Ida Wick", "Ida Wick founded the Morrow choir."),
    CellCase("Cup of 2019", "winner", "Sable", "Sable took the cup of 2019."),
]
