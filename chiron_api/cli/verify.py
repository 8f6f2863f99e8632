from pathlib import Path
from typing import Annotated

import typer

from chiron_api.crate.verification import Verification, verify
from chiron_api.text import as_json

FAULTS_SHOWN = 10

cli = typer.Typer()


@cli.command("verify")
def verify_crate(
    crate: Annotated[Path, typer.Argument(help="Folder or ZIP file of `chiron report --format crate`.")],
    without_texts: Annotated[
        bool,
        typer.Option(
            "--without-texts", help="Accept quotes whose texts the maker has left out of the crate."
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Check a crate: that every quote stands in its text, all hashes agree, and nothing is missing or added.

    It needs no database and no network, and runs nothing of the crate. Exit code 0 means that all is well.
    """
    result = verify(crate)
    is_sound = not result.faults and (without_texts or not result.quotes_without_text)
    if json:
        typer.echo(
            as_json({"is_sound": is_sound} | {name: getattr(result, name) for name in result.__slots__})
        )
    else:
        typer.echo("\n".join(_lines(result, is_sound=is_sound)))
    if not is_sound:
        raise typer.Exit(1)


def _lines(result: Verification, *, is_sound: bool) -> list[str]:
    lines = [
        f"{_count(result.facts, 'fact')}, {_count(result.quotes, 'quote')} in {_count(result.texts, 'text')} of "
        f"{_count(result.sources, 'source')}, {_count(result.runs, 'run')}, {_count(result.files, 'file')}.",
        f"sha256 of ro-crate-metadata.json: {result.metadata_hash}",
    ]
    if result.quotes_without_text:
        lines.append(
            f"Not checked, as the maker left their texts out: {_count(result.quotes_without_text, 'quote')}. "
            "--without-texts accepts that."
        )
    lines += [f"- {fault}" for fault in result.faults[:FAULTS_SHOWN]]
    if len(result.faults) > FAULTS_SHOWN:
        further = _count(len(result.faults) - FAULTS_SHOWN, "more fault")
        lines.append(f"and {further}; --json shows up to 1,000.")
    return [*lines, "All is well." if is_sound else "Do not rely on this crate as it is."]


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}{'s' * (number != 1)}"
