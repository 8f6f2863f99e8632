from datetime import datetime
from typing import Annotated

import typer

from chiron_api.acts.search import SearchRequest, search_facts, search_for_people
from chiron_api.answers.facts import FoundFact
from chiron_api.cli.display.answer import AsJson
from chiron_api.cli.input.options import options
from chiron_api.cli.input.times import time_option
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import one_line, validity
from chiron_workers.knowledge.search.search import RESULTS_MAX
from chiron_workers.settings import settings
from chiron_workers.states import HIDDEN_STATUSES, Ground, QuoteState, SearchMode, Verdict

cli = typer.Typer()


@cli.command()
async def search(  # noqa: PLR0913, PLR0917  # one parameter for each option
    query: Annotated[str, typer.Argument(help="What you want to know, in your own words.")],
    subject_id: Annotated[
        str | None, typer.Option("--subject", "-s", help="Only facts of this subject. Default: of all.")
    ] = None,
    top_k: Annotated[int, typer.Option(min=1, max=RESULTS_MAX, help="Facts at most.")] = 5,
    mode: Annotated[
        SearchMode,
        typer.Option(help="vector ranks by meaning alone, text by shared words alone, hybrid by both."),
    ] = SearchMode.HYBRID,
    topic_path: Annotated[
        str | None,
        typer.Option("--topic", help="Only facts at this topic path or below it, such as area/topic."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(help="Only facts that rest on this address, or on a domain such as example.org."),
    ] = None,
    since: Annotated[datetime | None, time_option("Only facts stored since then.")] = None,
    until: Annotated[datetime | None, time_option("Only facts stored before.")] = None,
    validated_since: Annotated[
        datetime | None, time_option("Only facts whose confidence was worked out since then.")
    ] = None,
    node_id: Annotated[
        str | None, typer.Option("--node", help="Only facts of this node of the coverage map.")
    ] = None,
    neighbours: Annotated[
        bool,
        typer.Option("--neighbours", help="With --node: also its parent, children, siblings, prerequisites."),
    ] = False,
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Leave out facts below this confidence.")
    ] = 0.0,
    candidates: Annotated[
        bool,
        typer.Option(
            "--candidates",
            help="Also facts that are not confirmed well enough yet, and those that their sources say no more.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search what is known, by meaning and by words: the best facts first, each with its source.

    What shares no word with the query and hardly any meaning is not printed, so fewer facts may come than --top-k allows.
    --json has the whole ranking, with the similarity of each.
    """
    request = options(
        SearchRequest,
        query=query,
        top_k=top_k,
        mode=mode,
        subject_id=subject_id,
        min_confidence=min_confidence,
        candidates=candidates,
        topic_path=topic_path,
        source=source,
        since=since,
        until=until,
        validated_since=validated_since,
        node_id=node_id,
        neighbours=neighbours,
    )
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
