"""The options of `chiron submit`, each with what `--help` says of it."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from chiron_api.cli.input.money import usd_option
from chiron_api.cli.input.times import time_option
from chiron_workers.states import Effort, ThinkingMode

Topics = Annotated[
    list[str] | None, typer.Argument(metavar="[TOPIC]...", help='Topics; "-" reads standard input.')
]
TopicsFile = Annotated[
    str | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        help="Topics from a file: .txt (one a line, `# ` for comments), .csv (with a column `topic`; commas, semicolons or "
        "tabs between cells), .json, .jsonl or .yaml. "
        "A topic may have its own subject, role, model, thinking, effort, priority, max_turns, budget_usd,"
        " budget_tokens, ready_at and context there.",
    ),
]
Subject = Annotated[
    str | None, typer.Option("--subject", "-s", help="Subject the facts belong to; any name.")
]
Name = Annotated[str, typer.Option(help="Name of the batch. Default: from its topics.")]
Role = Annotated[
    str, typer.Option(help="Which agent works on the topics: one of Chiron, or of CHIRON_ROLES.")
]
Model = Annotated[str | None, typer.Option(help="Model of the runs. Default: CHIRON_MODEL.")]
Thinking = Annotated[
    ThinkingMode | None, typer.Option(help="How the model thinks. Default: CHIRON_THINKING.")
]
RunEffort = Annotated[
    Effort | None, typer.Option("--effort", help="How much effort the model makes. Default: CHIRON_EFFORT.")
]
Priority = Annotated[int, typer.Option(help="Higher goes first.")]
BudgetUsd = Annotated[Decimal | None, usd_option("What the whole batch may cost.")]
BudgetTokens = Annotated[
    int | None, typer.Option(min=1, metavar="TOKENS", help="Tokens that the whole batch may use.")
]
RunBudgetUsd = Annotated[
    Decimal | None, usd_option("What each run may cost. Default: CHIRON_RUN_BUDGET_USD.")
]
RunBudgetTokens = Annotated[
    int | None, typer.Option(min=1, metavar="TOKENS", help="Tokens that each run may use.")
]
MaxTurns = Annotated[
    int | None, typer.Option(min=1, help="Model replies a run may take. Default: CHIRON_MAX_TURNS.")
]
Concurrency = Annotated[
    int | None, typer.Option(min=1, help="Runs of the batch that play at once, at most. Default: no limit.")
]
ReadyAt = Annotated[
    datetime | None,
    time_option(
        "When the runs may start: 2026-03-01T09:30, local time unless it says Z or +02:00. Default: now."
    ),
]
IdempotencyKey = Annotated[
    str | None,
    typer.Option(metavar="KEY", help="The same key again gives the same batch; nothing is submitted twice."),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[:TYPE],...",
        help="Ask for rows with these columns, such as `name, year:int, source`. Types: text, int, float, bool, date, url.",
    ),
]
Schema = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Ask for rows as this JSON schema of a row describes them: a column for each property.",
    ),
]
Context = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="What you say besides of each topic that has no context of its own in the file; its run gets it.",
    ),
]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        "-y",
        help="Do not ask about a new subject, nor about topics that repeat or were answered before.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check everything and estimate the cost; submit nothing.")
]
Watch = Annotated[bool, typer.Option("--watch", help="Follow the batch until it ends.")]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print batch_id and run_ids as JSON; of a dry run, the estimate."),
]
