"""The options of `chiron report`, each with what `--help` says of it."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated

import typer

from chiron_api.cli.input.money import usd_option
from chiron_api.reports.crate.privacy import TextChoice
from chiron_api.reports.formats import FormatName

Target = Annotated[
    str | None,
    typer.Argument(metavar="[ID]", help="Id of a batch or of a run, or the name of a subject or of a batch."),
]
Subject = Annotated[str | None, typer.Option("--subject", "-s", help="A subject, by its name or id.")]
ReportFormat = Annotated[
    FormatName | None,
    typer.Option("--format", "-f", help="What to write. Default: md, which a terminal shows rendered."),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="File to write, or folder for obsidian and crate. Default: what is text is printed.",
    ),
]
Candidates = Annotated[
    bool, typer.Option("--candidates", help="Also facts that are not sure enough yet, marked.")
]
Texts = Annotated[
    TextChoice | None,
    typer.Option(
        "--texts",
        help="Which sources' texts go into a crate: those of public pages (the default), all, or none.",
    ),
]
Sign = Annotated[
    Path | None,
    typer.Option(
        "--sign",
        metavar="KEYFILE",
        help="Sign the crate with this private key, Ed25519 in PEM, for `chiron verify --key`.",
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Overwrite the file, or write into a folder that holds other files."),
]
Write = Annotated[
    bool,
    typer.Option(
        "--write",
        help="Have a model write an answer from the facts first, each sentence held to those it names.",
    ),
]
Again = Annotated[
    bool,
    typer.Option("--again", help="With --write: anew, though the facts are the same as the last time."),
]
Model = Annotated[
    str | None, typer.Option(help="With --write: the model that writes. Default: CHIRON_MODEL.")
]
BudgetUsd = Annotated[Decimal | None, usd_option("With --write: what the writing may cost.")]
BudgetTokens = Annotated[
    int | None,
    typer.Option(min=1, metavar="TOKENS", help="With --write: how many tokens the writing may use."),
]
Watch = Annotated[bool, typer.Option("--watch", help="With --write: follow the writing.")]
AsJson = Annotated[
    bool,
    typer.Option(
        "--json", help="With --write: print batch_id and run_ids as JSON, and do not wait for the report."
    ),
]
