from collections.abc import Iterator

import typer

from chiron_api.acts.learning import RoundRequest, order_research
from chiron_api.answers.learning import ResearchRound
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.options import takes_input
from chiron_api.cli.learn.subject import Subject
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import count, one_line
from chiron_workers.learning.research_rounds import RoundState
from chiron_workers.settings import settings


@takes_input(facts_min="--facts", topics_max="--topics")
async def research(subject: Subject, body: RoundRequest, as_json: AsJson = False) -> None:
    """Research what the map of a subject lacks, a run a node: what the goal needs first, prerequisites before the rest.

    One round is one batch; the same command begins the next one. No node has two open runs. It ends when what the goal needs
    has its facts, or has gained nothing twice.
    """
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
