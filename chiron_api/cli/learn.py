import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from chiron_api.atomic_file import atomic_write
from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.cli.input.money import usd_option
from chiron_api.cli.quiz import quiz
from chiron_api.cli.report import end_of, print_markdown
from chiron_api.learning import CurriculumOptions, Goal, SubmittedCurriculum, submit_curriculum
from chiron_api.reports.lessons.document import LessonFormat
from chiron_api.reports.lessons.formats import render
from chiron_api.reports.write import refuse_to_overwrite
from chiron_api.text import as_json as json_line
from chiron_api.text import count
from chiron_api.views.coverage_maps import load_map, mermaid_lines, tree_lines
from chiron_workers.access.audit import record_command
from chiron_workers.batches.lesson_orders import LessonOptions, find_node, order_lesson
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.errors import ChironError
from chiron_workers.knowledge.coverage.proposals import Proposal, Proposals
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.lessons.reading import Lesson, latest_lesson
from chiron_workers.learning.needs import FACTS_MIN
from chiron_workers.learning.research_rounds import (
    TOPICS_MAX,
    ResearchRound,
    RoundOptions,
    RoundState,
    research_round,
)
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings
from chiron_workers.states import ProposalKind, ProposalState, RunState

cli = typer.Typer(
    name="learn",
    help="Learn a subject: from a goal to a map of what to know, and quizzes on it.",
    no_args_is_help=True,
)
cli.command()(quiz)
Subject = Annotated[str, typer.Argument(help="The subject, by its id or its name.")]


class MapFormat(StrEnum):
    """How a coverage map is printed."""

    TREE = "tree"
    MERMAID = "mermaid"
    JSON = "json"


@cli.command()
async def start(  # each is an option of the command
    subject: Annotated[str, typer.Argument(help="What it is called; any name.")],
    goal: Annotated[
        str, typer.Option(help="What you want to understand or be able to do, in your own words.")
    ],
    depth: Annotated[
        str, typer.Option(help="How deeply: overview, practical, expert, or other words.")
    ] = "practical",
    model: Annotated[str | None, typer.Option(help="Model of the run. Default: CHIRON_MODEL.")] = None,
    budget_usd: Annotated[
        Decimal | None,
        usd_option("What the map may cost. The run pauses there, and goes on with `chiron resume`."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Map the goal anew, though it was mapped before.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Have the coverage map of a learning goal drawn up: what there is to know, and in which order.

    A run of the role `curriculum` looks up how the field is divided, and keeps the map that is there. The same goal twice is
    the same run.
    """
    options = CurriculumOptions(model, Budget(budget_usd), is_fresh=again)
    async with _pool() as pool:
        receipt = await order_curriculum(pool, Goal(subject, goal, depth), options)
    verb = "is being mapped" if receipt.batch.is_new else "was mapped before"
    sentence = (
        f"{receipt.subject_id} {verb}, batch {receipt.batch.batch_id}.\n"
        f"  chiron watch {receipt.batch.batch_id}   follows it\n"
        f"  chiron learn map {receipt.subject_id}   shows the map"
    )
    print_answer(sentence, receipt, as_json=as_json)


@cli.command("map")
async def show_map(
    subject: Subject,
    format: Annotated[MapFormat, typer.Option(help="As what it is printed.")] = MapFormat.TREE,
) -> None:
    """Print the coverage map of a subject. `*` marks what the goal cannot be reached without."""
    async with _pool() as pool:
        session = Session(pool)
        subject_id = (await Subjects(session).require(subject))["subject_id"]
        coverage = await load_map(session, subject_id)
    if format is MapFormat.JSON:
        typer.echo(json_line(coverage))
        return
    lines = list(tree_lines(coverage) if format is MapFormat.TREE else mermaid_lines(coverage))
    if not coverage.tops:
        lines = [
            f'{subject_id} has no map yet. `chiron learn start {subject_id} --goal "..."` has one drawn up.'
        ]
    typer.echo("\n".join(lines))


@cli.command()
async def lesson(  # noqa: PLR0913, PLR0917  # each is an option of the command
    subject: Subject,
    node: Annotated[str, typer.Argument(help="The node of its map, by its title or its id.")],
    format: Annotated[
        LessonFormat | None, typer.Option("--format", "-f", help="As what it is written out. Default: md.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="The file it goes to.")] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Have it written anew; the lesson that is there stays as a version."),
    ] = False,
    model: Annotated[str | None, typer.Option(help="Model of the run. Default: CHIRON_MODEL.")] = None,
    budget_usd: Annotated[
        Decimal | None, usd_option("What the lesson may cost. The run pauses there.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Show the lesson on a node; where there is none yet, a run of the role `lesson` writes it from stored facts alone.

    Each sentence names the facts it rests on. Where one of them was withdrawn, superseded or contradicted since, the lesson says
    which sentence is stale and why; --again has it written anew.
    """
    if output is not None:
        refuse_to_overwrite(output, force=force)
    async with _pool() as pool:
        options = LessonOptions(model, Budget(budget_usd), is_fresh=again)
        content = await lesson_on(pool, subject, node, options)
    text = "".join(render(content, LessonFormat.JSON if as_json else format or LessonFormat.MD))
    if output is not None:
        with atomic_write(output) as place:
            place.write_text(text, "utf-8")
        typer.echo(f"{output} written.")
    elif format is None and not as_json and sys.stdout.isatty():
        print_markdown(text)
    else:
        typer.echo(text, nl=False)


async def research(  # each is an option of the command
    subject: Subject,
    facts: Annotated[
        int, typer.Option(min=1, help="Accepted facts that a node needs, from two origins.")
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
    options = RoundOptions(facts, topics, model, budget_usd, revives=again)
    async with _pool() as pool:
        subject_id = (await Subjects(Session(pool)).require(subject))["subject_id"]
        outcome = await order_research(pool, subject_id, options)
    if as_json:
        typer.echo(json_line(outcome))
    else:
        typer.echo("\n".join(round_lines(outcome)))


@cli.command()
async def proposals(
    subject: Subject,
    state: Annotated[
        ProposalState | None, typer.Option(help="Only those in this state. Default: all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List what research has proposed for the map of a subject, newest first, with what was decided and why."""
    async with _pool() as pool:
        session = Session(pool)
        subject_id = (await Subjects(session).require(subject))["subject_id"]
        items = await Proposals(session).of(subject_id, state=state)
    if as_json:
        typer.echo(json_line(items))
        return
    for item in items:
        typer.echo("\n".join(_lines(item)))
    if not items:
        typer.echo(f"Nothing is proposed for the map of {subject_id}.")


@cli.command()
async def decide(
    proposal: Annotated[str, typer.Argument(help="The proposal's id, as `chiron learn proposals` shows it.")],
    accept: Annotated[bool, typer.Option("--accept/--reject", help="Whether the map is changed.")],
    reason: Annotated[str, typer.Option(help="Why.")],
    as_json: AsJson = False,
) -> None:
    """Accept a proposal, which changes the map at once, or reject it. Facts and answers of a removed node stay."""
    async with _pool() as pool:
        async with Session(pool) as session:
            item = await Proposals(session).decide(proposal, accept=accept, reason=reason)
        await record_command(pool, "proposals.decide", item["proposal_id"], {"state": item["state"]})
    print_answer(f"The proposal is {item['state']}.", item, as_json=as_json)


async def lesson_on(pool: Pool, subject: str, node: str, options: LessonOptions) -> Lesson:
    """The newest lesson on a node; one that is not there, or is to be fresh, is ordered and waited for.

    Raises:
        ChironError: The writing came to nothing, or waits for somebody.
    """
    from chiron_workers.pubsub.signals import notify

    subject_id = (await Subjects(Session(pool)).require(subject))["subject_id"]
    target = await find_node(pool, subject_id, node)
    node_id = UUID(target["node_id"])
    content = None if options.is_fresh else await latest_lesson(pool, subject_id, node_id)
    if content is not None:
        return content
    receipt = await order_lesson(pool, subject_id, target, options)
    await record_command(pool, "lessons.order", str(node_id), {"made": str(receipt.batch_id)})
    await notify(settings().redis_url, receipt.batch_id)
    batch = receipt.batch_id
    typer.echo(f"Batch {batch} writes the lesson; `chiron watch {batch}` follows it.", err=True)
    state = await end_of(pool, batch)
    content = await latest_lesson(pool, subject_id, node_id)
    if state is not RunState.COMPLETED or content is None:
        raise ChironError(
            f"The lesson was not written: batch {batch} is {state}. `chiron show {batch}` says why."
        )
    return content


async def order_curriculum(pool: Pool, goal: Goal, options: CurriculumOptions) -> SubmittedCurriculum:
    """Submit a curriculum run and tell the workers."""
    from chiron_workers.pubsub.signals import notify

    receipt = await submit_curriculum(pool, goal, options)
    await record_command(pool, "curricula.order", receipt.subject_id)
    await notify(settings().redis_url, receipt.batch.batch_id)
    return receipt


async def order_research(pool: Pool, subject_id: str, options: RoundOptions) -> ResearchRound:
    """Begin the next round of research and tell the workers."""
    from chiron_workers.pubsub.signals import notify

    outcome = await research_round(pool, subject_id, options)
    await record_command(pool, "subjects.research", subject_id)
    for batch in outcome.batches:
        await notify(settings().redis_url, batch.batch_id)
    return outcome


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
            yield f"{outcome.subject_id}: {', '.join(outcome.gaps)} still lack facts, and research gained nothing twice."
            yield "  --again tries them once more"
        case RoundState.UNMAPPED:
            yield f"{outcome.subject_id} has no map to a goal. `chiron learn start` has one drawn up."


@asynccontextmanager
async def _pool() -> AsyncIterator[Pool]:
    async with open_pool(settings().database_url, size=2) as pool:
        yield pool


def _lines(item: Proposal) -> list[str]:
    words = {
        ProposalKind.ADD: "add {title!r}",
        ProposalKind.PREREQUISITE: "know {other_title!r} before {title!r}",
        ProposalKind.MERGE: "make {title!r} one with {other_title!r}",
        ProposalKind.REMOVE: "remove {title!r}",
    }[ProposalKind(item["kind"])]
    lines = [f"{item['proposal_id']}  {item['state']}  {words.format(**item)}", f"  why: {item['reason']}"]
    if item["decided_by"]:
        lines.append(f"  {item['state']} by {item['decided_by']}: {item['decision_reason']}")
    return lines
