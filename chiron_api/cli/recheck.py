from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from chiron_api.cli.display.answer import AsJson
from chiron_api.services import open_services
from chiron_api.text import as_json as json_line
from chiron_api.text import count, one_line
from chiron_workers.access.audit import long_command
from chiron_workers.rechecks import SOURCES_MAX
from chiron_workers.settings import settings

if TYPE_CHECKING:
    from chiron_workers.rechecks.recheck import ContextOutcome, FactOutcome, Recheck, SourceOutcome

cli = typer.Typer()


@cli.command()
async def recheck(
    subject: Annotated[str, typer.Argument(help="Subject whose sources are read again.")],
    limit: Annotated[
        int,
        typer.Option(
            min=1, max=SOURCES_MAX, help="Sources at most; those that were read longest ago come first."
        ),
    ] = SOURCES_MAX,
    as_json: AsJson = False,
) -> None:
    """Read the sources of a subject's facts again: which have changed, are gone, are back, or were retracted.

    A fact that none of its sources says any more is superseded, and is accepted again when one does. Where the quote stands and
    the words around it have changed, the fact is marked `context changed`.
    """
    from chiron_workers.rechecks.recheck import recheck_subject

    async with open_services(settings(), pool_size=10) as services:
        async with services.store() as store:
            subject_id = (await store.subjects.require(subject))["subject_id"]
        async with long_command(services.pool, "subjects.recheck", subject_id) as result:
            outcome = await recheck_subject(
                services.pool, services.embedder, services.settings, subject_id, limit=limit
            )
            result["sources"] = outcome.sources
    typer.echo(json_line(outcome) if as_json else "\n".join(recheck_lines(outcome)))


def recheck_lines(outcome: "Recheck") -> Iterator[str]:
    """A line with the counts, then a section for each kind of news."""
    sources = count(outcome.sources, "source")
    yield f"{outcome.subject_id}: {sources} read again, {outcome.unchanged_sources:,} unchanged"
    for heading, news in (
        ("Changed", outcome.changed_sources),
        ("Gone", outcome.gone_sources),
        ("Back", outcome.back_sources),
        ("Retracted", outcome.retracted_sources),
        ("Not read: nothing is lost by that", outcome.unread_sources),
    ):
        yield from _section(heading, [line for source in news for line in _source(source)])
    for heading, facts in (
        ("Superseded: no source says so any more", outcome.superseded_facts),
        ("Restored: a source says so again", outcome.restored_facts),
    ):
        yield from _section(heading, [line for fact in facts for line in _fact(fact)])
    for heading, contexts in (
        ("Context changed: the quote stands, among other words", outcome.doubtful_facts),
        ("Context as before again", outcome.cleared_facts),
    ):
        yield from _section(heading, [line for context in contexts for line in _context(context)])
    if outcome.doubtful_facts:
        yield f"\n`chiron check {outcome.subject_id}` asks a model whether they hold among these words."
    if outcome.left_out:
        yield f"\n{count(outcome.left_out, 'source is', 'sources are')} left for the next recheck."


def _section(heading: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"\n{heading}"
        yield from lines


def _source(source: "SourceOutcome") -> list[str]:
    return [f"  {one_line(source.url)}", f"        {one_line(source.note, chars_max=500)}"]


def _context(context: "ContextOutcome") -> list[str]:
    return [
        f"  {one_line(context.content, chars_max=500)}",
        f"        {context.fact_id} ({context.status}), {one_line(context.source_url)}",
        f"        {one_line(context.words, chars_max=700)}",
    ]


def _fact(fact: "FactOutcome") -> list[str]:
    successor = f", superseded by {fact.superseded_by}" if fact.superseded_by else ""
    return [
        f"  {one_line(fact.content, chars_max=500)}",
        f"        {fact.fact_id} ({fact.status}{successor})",
    ]
