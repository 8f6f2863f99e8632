from decimal import Decimal
from typing import Annotated

import typer

from chiron_api.cli.display.answer import AsJson, print_answer
from chiron_api.cli.input.money import usd_option
from chiron_api.cli.learn.subject import Subject, open_subject_pool
from chiron_api.views.coverage_maps import MapFormat, load_map, render
from chiron_workers.access.audit import command
from chiron_workers.billing.budgets import Budget
from chiron_workers.db.connect import Pool
from chiron_workers.knowledge.coverage.subjects import Subjects, slug
from chiron_workers.learning.curriculum_orders import (
    CurriculumOptions,
    Goal,
    SubmittedCurriculum,
    submit_curriculum,
)
from chiron_workers.runs.session import Session
from chiron_workers.settings import settings


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
    async with open_subject_pool() as pool:
        receipt = await order_curriculum(pool, Goal(subject, goal, depth), options)
    verb = "is being mapped" if receipt.batch.is_new else "was mapped before"
    sentence = (
        f"{receipt.subject_id} {verb}, batch {receipt.batch.batch_id}.\n"
        f"  chiron watch {receipt.batch.batch_id}   follows it\n"
        f"  chiron learn map {receipt.subject_id}   shows the map"
    )
    print_answer(sentence, receipt, as_json=as_json)


async def show_map(
    subject: Subject,
    format: Annotated[
        MapFormat, typer.Option("--format", "-f", help="As what it is printed.")
    ] = MapFormat.TREE,
    as_json: AsJson = False,
) -> None:
    """Print the coverage map of a subject. `*` marks what the goal cannot be reached without."""
    async with open_subject_pool() as pool:
        session = Session(pool)
        subject_id = (await Subjects(session).require(subject))["subject_id"]
        coverage = await load_map(session, subject_id)
    shape = MapFormat.JSON if as_json else format
    if not coverage.tops and shape is not MapFormat.JSON:
        typer.echo(
            f'{subject_id} has no map yet. `chiron learn start {subject_id} --goal "..."` has one drawn up.'
        )
        return
    typer.echo(render(coverage, shape), nl=False)


async def order_curriculum(pool: Pool, goal: Goal, options: CurriculumOptions) -> SubmittedCurriculum:
    """Submit a curriculum run and tell the workers."""
    from chiron_workers.pubsub.signals import notify

    async with command(pool, "curricula.order", slug(goal.subject)):
        receipt = await submit_curriculum(pool, goal, options)
    await notify(settings().redis_url, receipt.batch.batch_id)
    return receipt
