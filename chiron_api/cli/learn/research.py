from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated

import typer

from chiron_api.acts.learning import RoundRequest, order_research
from chiron_api.answers.learning import ResearchRound
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.money import usd_option
from chiron_api.cli.input.options import options
from chiron_api.cli.learn.subject import Subject
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import count, one_line
from chiron_workers.learning.needs import FACTS_MAX, FACTS_MIN
from chiron_workers.learning.research_rounds import TOPICS_MAX, RoundState
from chiron_workers.settings import settings


async def research(
    subject: Subject,
    facts: Annotated[
        int, typer.Option(min=1, max=FACTS_MAX, help="Accepted facts that a node needs, from two origins.")
    ] = FACTS_MIN,
    topics: Annotated[
        int, typer.Option(min=1, max=1_000, help="Nodes that are researched at once.")
    ] = TOPICS_MAX,
    model: Annotated[str | None, typer.Option(help="Model of the runs. Default: CHIRON_MODEL.")] = None,
    budget_usd: Annotated[
        Decimal | None,
        usd_option("What the round may cost. It pauses there, and goes on with `chiron resume`."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Try nodes again that gained nothing twice.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Research what the map of a subject lacks, a run a node: what the goal needs first, prerequisites before the rest.

    One round is one batch; the same command begins the next one. No node has two open runs. It ends when what the goal needs
    has its facts, or has gained nothing twice.
    """
    body = options(
        RoundRequest, facts_min=facts, topics_max=topics, model=model, budget_usd=budget_usd, again=again
    )
    async with open_services(settings(), pool_size=2) as services:
        outcome = (await order_research.command(services, subject, body)).answer
    if as_json:
        typer.echo(json_line(outcome))
    else:
        typer.echo("\n".join(round_lines(outcome)))


def round_lines(outcome: ResearchRound) -> Iterator[str]:
    """What is researched now, or why nothing is."""
    match outcome.state:
        case RoundState.SUBMITTED:
            for batch in outcome.batches:
                yield f"{outcome.subject_id}: {count(len(batch.run_ids), 'node')} researched, batch {batch.batch_id}."
                yield f"  chiron watch {batch.batch_id}   follows it"
        case RoundState.RUNNING:
            yield f"{outcome.subject_id}: a round is under way; `chiron learn research` begins the next one after it."
        case RoundState.COVERED:
            yield f"{outcome.subject_id}: what the goal needs has its facts."
        case RoundState.EXHAUSTED:
            gaps = ", ".join(map(one_line, outcome.gaps))
            yield f"{outcome.subject_id}: {gaps} still lack facts, and research gained nothing twice."
            yield "  --again tries them once more"
        case RoundState.UNMAPPED:
            yield f"{outcome.subject_id} has no map to a goal. `chiron learn start` has one drawn up."
