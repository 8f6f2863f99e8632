from dataclasses import dataclass
from uuid import UUID

import pytest
from support.research_rows import Shelf

THICKNESS = (
    "Sea ice in the Arctic is thinning. In winter 2023 the mean thickness was 1.9 m. Satellites measure the freeboard. "
    "Older ice is thicker."
)
OTHER = "A later survey found a mean thickness of 2.4 m for the winter of 2023. It used moored sonar."
NOTE = "The figure of 1.9 m holds for February alone."
LONG = "https://ice.example.org/" + "a-very-long-address-without-any-break/" * 12 + "end.html?x=1&y=<2>"
HOSTILE = [
    "<script>alert(1)</script> <img src=x onerror=alert(2)>",
    "# no heading | no | table `code` **bold** _em_ [link](javascript:alert(1)) <b> &copy; $x$ ~~gone~~",
    "1. no list",
    "- no list\n\n> no quote\n\n---\n\n# no heading",
    "الجليد البحري يذوب في الصيف \u202e gnirts desrever \u2066x\u2069",
    "x" * 4_000,
    "\\ backslash \\[1] ends with \\",
]


@dataclass(frozen=True)
class SeaIce:
    """Two runs of a batch on one subject: what is known, contradicted, missing and failed."""

    shelf: Shelf
    batch: UUID
    run: UUID
    other_run: UUID
    mean: UUID
    opposite: UUID
    candidate: UUID
    withdrawn: UUID


@pytest.fixture
def sea_ice(shelf: Shelf) -> SeaIce:
    shelf.subject("sea-ice", "Sea ice", "Know how much ice there is,\nand how that is measured.")
    top = shelf.node("sea-ice", "Thickness", is_goal_critical=True)
    shelf.node("sea-ice", "Satellites", top)
    shelf.node("sea-ice", "Drilling", top)
    shelf.node("sea-ice", "Albedo", is_goal_critical=True)
    shelf.node("sea-ice", "Biology")
    batch = shelf.batch("sea-ice", "Winter reading")
    run = shelf.run(
        "sea-ice", batch, "How thick is the ice?", answer="I think it is **thin**.\n\nAsk <b>me</b>."
    )
    other = shelf.run(
        "sea-ice", batch, "What lives there?", state="failed", facts=0, answer=None, unconfirmed_usd=0.01,
        error='{"kind": "max_turns", "message": "Too long | by far."}',
    )  # fmt: skip
    mean = shelf.fact(
        "sea-ice", "In winter 2023 Arctic sea ice was 1.9 m thick on average.", "https://a.org/ice", "thickness/arctic",
        quote="In winter 2023 the mean thickness was 1.9 m.", text=THICKNESS, run_id=run, confidence=0.86,
    )  # fmt: skip
    shelf.connection.execute(
        "update fetches set title = 'Ice | <today>', author = 'A. Ice', licence = 'CC BY 4.0', published_at = '2025-05-05Z'"
    )
    shelf.confirm(
        mean, "The mean thickness was 1.9 m in winter 2023.", "https://b.org/x", quote="1.9 m in winter"
    )
    shelf.confirm(mean, "Mean thickness: 1.9 m.", LONG, run_id=other)
    opposite = shelf.fact(
        "sea-ice", "In winter 2023 Arctic sea ice was 2.4 m thick on average.", "https://c.org/sonar", "thickness/arctic",
        quote="A later survey found a mean thickness of 2.4 m for the winter of 2023.", text=OTHER, run_id=run,
        confidence=0.45, status="disputed",
        contradictions='["Some say it is 3 m."]',
    )  # fmt: skip
    candidate = shelf.fact(
        "sea-ice", "The figure of 1.9 m is for February.", "corpus://sea-ice/notes%20of%20mine.md", "thickness/arctic",
        quote="The figure of 1.9 m holds for February alone.", text=NOTE, status="candidate", confidence=0.4,
    )  # fmt: skip
    gone = shelf.fact("sea-ice", "TAKEN OUT", "https://d.org/", status="withdrawn", run_id=run)
    shelf.link(opposite, mean, "contradicts")
    shelf.link(candidate, mean, "qualifies")
    shelf.link(gone, mean, "contradicts")
    shelf.change(mean)
    for n, words in enumerate(HOSTILE):
        shelf.fact("sea-ice", words, f"javascript:alert({n})", f"satellites/<b>{n}|x", run_id=run)
    return SeaIce(shelf, batch, run, other, mean, opposite, candidate, gone)
