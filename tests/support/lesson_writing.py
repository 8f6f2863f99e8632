"""Runs of the role lesson: facts of a node, orders, and lessons as a run left them."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chiron_workers.ids import new_id
from chiron_workers.learning.lesson_orders import find_node, order_lesson
from chiron_workers.learning.order_options import OrderOptions
from chiron_workers.tools import registry
from support.research_rows import NOON, Shelf
from support.run_harness import Stage
from support.scripted_model import Block, call

OPEN = "Satellites measure the freeboard of sea ice."
AGE = "Ice that is older than four years is thicker than young ice."
CASE = "A freeboard of 0.2 m stands for ice of about 1.8 m."
MEAN = "In winter 2023 Arctic sea ice was 1.9 m thick on average."
OPPOSITE = "In winter 2023 Arctic sea ice was 2.4 m thick on average."


@dataclass(frozen=True)
class Taught:
    """A subject with a map: `thickness` is the node that is taught, it needs `ice` and has the part `snow`."""

    thickness: UUID
    ice: UUID
    snow: UUID
    freeboard: UUID
    age: UUID
    case: UUID
    mean: UUID
    opposite: UUID
    withdrawn: UUID
    elsewhere: UUID


def taught_subject(shelf: Shelf) -> Taught:
    """A subject as curriculum and research left it."""
    shelf.subject("sea-ice", "Sea ice", "Judge what satellites say of sea ice.")
    ice = shelf.node("sea-ice", "Ice")
    thickness = shelf.node("sea-ice", "Thickness", prerequisites=[ice], is_goal_critical=True)
    snow = shelf.node("sea-ice", "Snow", thickness)

    def fact(content: str, path: str, **more: Any) -> UUID:
        url = f"https://example.org/{path}"
        return shelf.fact("sea-ice", content, url, path, quote=content, text=f"{content} Much more.", **more)

    freeboard = fact(OPEN, "thickness/satellites", confidence=0.85)
    age, case = fact(AGE, "thickness/age", confidence=0.8), fact(CASE, "thickness/case", confidence=0.7)
    mean = fact(MEAN, "thickness/mean", status="disputed", confidence=0.6)
    opposite = fact(OPPOSITE, "thickness/mean-2", status="disputed", confidence=0.5)
    shelf.link(opposite, mean, "contradicts")
    fact("Sea ice may be gone by 2050.", "thickness/future", status="candidate", confidence=0.3)
    withdrawn = fact("Sea ice is salty all through.", "thickness/salt", status="withdrawn")
    elsewhere = fact("Walruses rest on sea ice.", "animals/walruses")
    return Taught(thickness, ice, snow, freeboard, age, case, mean, opposite, withdrawn, elsewhere)


def part(name: str, *sentences: dict[str, Any], place: int = 1, title: str = "Measuring") -> Block:
    """A call that writes a section of a lesson."""
    title = "" if name == "summary" else title
    return call("write_lesson", part=name, place=place, title=title, sentences=list(sentences))


async def submit_lesson(
    stage: Stage, subject_id: str = "sea-ice", node: str = "Thickness", *, again: bool = False
) -> UUID:
    """A queued run that writes a lesson."""
    stage.registry = registry()
    options = OrderOptions(model=stage.model_name, is_fresh=again)
    receipt = await order_lesson(
        stage.pool, subject_id, await find_node(stage.pool, subject_id, node), options
    )
    return receipt.run_ids[0]


def written_lesson(shelf: Shelf, taught: Taught, **more: Any) -> UUID:
    """A lesson on thickness as a run left it."""
    sections = {
        0: ("What this lesson says", [(AGE, [taught.age])]),
        1: ("Measuring", [(OPEN, [taught.freeboard]),
                          (f"Sources disagree: {MEAN} against {OPPOSITE}", [taught.mean, taught.opposite])]),
        39: ("From freeboard to thickness", [(CASE, [taught.case])]),
    }  # fmt: skip
    lesson_id = new_id()
    usual = {
        "subject_id": "sea-ice", "node_id": taught.thickness, "title": "Thickness",
        "depth": "practical", "model": "claude-opus-5-5",
        "state": "handed_in", "handed_in_at": NOON, "not_known": ["Nothing is known yet of Snow."],
    }  # fmt: skip
    shelf.insert("lessons", id=lesson_id, **usual | more)
    for place, (title, sentences) in sections.items():
        shelf.insert("lesson_sections", lesson_id=lesson_id, place=place, title=title, title_verdict_by="m")
        for n, (text, fact_ids) in enumerate(sentences, start=1):
            statuses = [
                shelf.connection.execute("select status from facts where id = %s", (key,)).fetchone()[0]
                for key in fact_ids
            ]
            shelf.insert(
                "lesson_sentences", lesson_id=lesson_id, place=place, n=n, text=text, fact_ids=fact_ids,
                fact_statuses=statuses, verdict_reason="It is so.", verdict_by="rules",
            )  # fmt: skip
    return lesson_id
