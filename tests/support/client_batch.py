"""A batch as a client orders it: short questions on lakes, each with an answer that cites two facts."""

from uuid import UUID

from support.research_rows import Shelf

LAKES = (
    "Abaya", "Baikal", "Chad", "Erie", "Fagnano", "Garda", "Huron", "Iseo", "Jipe", "Kivu", "Ladoga", "Malawi", "Nicaragua",
    "Onega", "Peipus", "Qinghai", "Rudolf", "Saimaa", "Tanganyika", "Urmia", "Victoria", "Winnipeg", "Xolotlan", "Yamdrok",
)  # fmt: skip
FACTS_EACH = 2


def depth(name: str) -> int:
    return 50 + 17 * LAKES.index(name)


def question(name: str) -> str:
    return f"How deep is Lake {name}, and what feeds it?"


def answer(name: str) -> str:
    return (
        f"**Lake {name}** is {depth(name)} metres deep at most, by the survey of 2019 "
        f"(https://lakes.example.org/{name.lower()}). "
        f"It is fed by rivers from the north and by rain (https://water.example.org/{name.lower()})."
    )


def lakes_batch(shelf: Shelf, *, questions: int = len(LAKES), fruitless: int = 0) -> UUID:
    """Runs of a batch on `questions` lakes, the last of which found nothing."""
    batch = shelf.batch(shelf.subject("lakes", "Lakes"), "Lakes of the world")
    for place, name in enumerate(LAKES[:questions]):
        if place >= questions - fruitless:
            shelf.run("lakes", batch, question(name), facts=0, answer="I found no source that gives a depth.")
            continue
        run = shelf.run("lakes", batch, question(name), answer=answer(name), facts=FACTS_EACH)
        deep = f"Lake {name} has a maximum depth of {depth(name)} metres."
        fed = f"Rivers from the north and rain feed Lake {name}."
        survey = f"The survey of 2019 sounded the lake. {deep} Its mean depth is less."
        shelf.fact(
            "lakes", deep, f"https://lakes.example.org/{name.lower()}", "lakes/depths", quote=deep, text=survey, run_id=run,
            confidence=0.9,
        )  # fmt: skip
        quote = (
            f"{name} is fed by several rivers that come from the north, and by the rain of the wet season."
        )
        shelf.fact(
            "lakes", fed, f"https://water.example.org/{name.lower()}", "lakes/water", quote=quote, text=f"Waters. {quote}",
            run_id=run, confidence=0.8,
        )  # fmt: skip
    return batch
