import typer

from chiron_api.acts.moments import Side
from chiron_api.acts.search import SearchRequest, search_facts, search_for_people
from chiron_api.answers.facts import FoundFact
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.options import takes_input
from chiron_api.cli.input.times import time_option
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import one_line, validity
from chiron_workers.errors import UsageError
from chiron_workers.settings import settings
from chiron_workers.states import HIDDEN_STATUSES, Ground, QuoteState, Verdict

cli = typer.Typer()


@cli.command()
@takes_input(
    query=typer.Argument(),
    subject_id=typer.Option("--subject", "-s"),
    topic_path="--topic",
    since=time_option(help=f"Only facts stored since: {Side.PAST.forms}."),
    until=time_option(help="Only facts stored before: a time in the same forms."),
    validated_since=time_option(
        help="Only facts whose confidence was computed since: a time in the same forms."
    ),
    node_id="--node",
    neighbours=typer.Option(help="With --node: also its parent, children, siblings, prerequisites."),
)
async def search(request: SearchRequest, as_json: AsJson = False) -> None:
    """Search what is known, by meaning and by words: the best facts first, each with its source.

    What shares no word with the query and hardly any meaning is not printed, so fewer facts may come than --top-k allows.
    --json has the whole ranking, with the similarity of each.
    """
    if request.neighbours and request.node_id is None:
        raise UsageError("--neighbours goes with --node.")
    async with open_services(settings(), pool_size=2) as services:
        facts = (await (search_facts if as_json else search_for_people)(services, request)).items
    if as_json:
        typer.echo(json_line(facts))
        return
    for place, fact in enumerate(facts, start=1):
        _print(place, fact)
    if not facts:
        typer.echo("Nothing is known that fits. `chiron submit TOPIC --subject S` researches it.")


def _print(place: int, fact: FoundFact) -> None:
    status = f" [{fact.status}]" if fact.status in HIDDEN_STATUSES else ""
    typer.echo(f"{place:>3}  {one_line(fact.content, chars_max=2_000)}{status}")
    if fact.quote:
        mark = "" if QuoteState(fact.quote_state) is QuoteState.VERIFIED else " [unverified]"
        doubt = " [in doubt]" if Verdict(fact.verdict).is_doubt else ""
        context = f"[{one_line(fact.context, chars_max=300)}] " if fact.context else ""
        typer.echo(f"     {context}“{one_line(fact.quote, chars_max=500)}”{mark}{doubt}")
    further = f" and {count} more" if (count := fact.corroborations) else ""
    similarity = "" if fact.similarity is None else f", similarity {fact.similarity:.2f}"
    span = validity(fact.valid_from, fact.valid_until)
    typer.echo(
        f"     {one_line(fact.source_url)}{further}  (confidence {fact.confidence:.2f}{similarity}"
        f"{f', {span}' if span else ''})"
    )
    if Ground(fact.ground) is not Ground.STANDS:
        successor = f", superseded by {fact.superseded_by}" if fact.superseded_by else ""
        typer.echo(f"     {fact.ground}{successor}")
    if fact.contradicted_by:
        typer.echo(f"     contradicted by {', '.join(map(str, fact.contradicted_by))}")
