import typer

from chiron_api.cli.learn.curriculum import show_map
from chiron_api.cli.learn.journey import next_, resume, start, status, stop
from chiron_api.cli.learn.lesson import lesson
from chiron_api.cli.learn.proposals import decide, proposals
from chiron_api.cli.learn.quiz import quiz
from chiron_api.cli.learn.research import research

cli = typer.Typer(
    name="learn",
    help="Learn a subject: from a goal to a map, research, lessons and quizzes.",
    no_args_is_help=True,
)
cli.command()(start)
cli.command()(status)
cli.command("next")(next_)
cli.command("map")(show_map)
cli.command()(research)
cli.command()(lesson)
cli.command()(quiz)
cli.command()(proposals)
cli.command()(decide)
cli.command()(stop)
cli.command()(resume)
