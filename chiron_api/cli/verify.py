from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from chiron_api.crate.signatures import SignatureState, fingerprint, read_public_key
from chiron_api.reports.crate.verification import PageState, Verification, verify
from chiron_api.text import as_json, count, one_line

FAULTS_SHOWN = 10
AUTHORS_WORD = (
    "that an address gave its text, names and scores of sources, statements as far as the rules leave them open, verdicts of "
    "models, confidence, runs and what they cost, answers"
)

cli = typer.Typer()


@cli.command("verify")
def verify_crate(
    crate: Annotated[Path, typer.Argument(help="Folder or ZIP file of `chiron report --format crate`.")],
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="PUBLIC",
            help="The author's public key, Ed25519: the crate has to be signed with it.",
        ),
    ] = None,
    without_texts: Annotated[
        bool,
        typer.Option(
            "--without-texts", help="Accept quotes whose texts the maker has left out of the crate."
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Check a crate: every quote is in its snapshot, its files agree, and the rules find nothing against a statement.

    Statements, scores and answers remain the author's. A signature (--key) proves who signed the crate, and
    that no file has changed since. It needs no database and no network, and runs nothing of the crate.
    Exit code 0 means that no fault was found.
    """
    public_key = read_public_key(key) if key else None
    result = verify(crate, key=public_key)
    is_sound = not result.faults and (without_texts or not result.quotes_without_text)
    if json:
        typer.echo(
            as_json({"is_sound": is_sound} | {name: getattr(result, name) for name in result.__slots__})
        )
    else:
        signer = fingerprint(public_key) if public_key else ""
        typer.echo("\n".join(_lines(result, is_sound=is_sound, signer=signer)))
    if not is_sound:
        raise typer.Exit(1)


def _lines(result: Verification, *, is_sound: bool, signer: str) -> Iterator[str]:
    yield (
        f"{count(result.facts, 'fact')}, {count(result.quotes, 'quote')} in {count(result.texts, 'text')} of "
        f"{count(result.sources, 'source')}, {count(result.runs, 'run')}, {count(result.files, 'file')}."
    )
    yield f"sha256 of ro-crate-metadata.json: {result.metadata_hash}"
    yield _signature_line(result, signer)
    yield _page_line(result)
    if result.quotes_without_text:
        yield (
            f"Not checked, as the maker left their texts out: {count(result.quotes_without_text, 'quote')}. "
            "--without-texts accepts that."
        )
    yield from (f"- {fault}" for fault in result.faults[:FAULTS_SHOWN])
    if len(result.faults) > FAULTS_SHOWN:
        yield f"and {count(len(result.faults) - FAULTS_SHOWN, 'more fault')}; --json shows up to 1,000."
    yield from _conclusion(result) if is_sound else ["Do not rely on this crate as it is."]


def _conclusion(result: Verification) -> Iterator[str]:
    yield (
        f"Statements with a quote: {result.statements:,}, of which {result.statements_repeated:,} have its words. Rules doubt "
        f"{result.statements_overruled:,} that a model supports, by the author's word. They never confirm one."
    )
    yield f"Not checked, the author's word: {AUTHORS_WORD} ({result.answers:,})."
    condition = " whose text is here" if result.quotes_without_text else ""
    yield f"No fault: every quote{condition} is in its snapshot; statements, scores and answers are the author's."


def _signature_line(result: Verification, signer: str) -> str:
    match result.signature:
        case SignatureState.VALID:
            return f"Signed with the key {signer}: no file was changed since."
        case SignatureState.UNCHECKED:
            return "Signed; --key PUBLIC checks by whom."
        case SignatureState.INVALID:
            return "Signed, but not these files."
        case SignatureState.ABSENT:
            return "Not signed: nothing shows who made it."


def _page_line(result: Verification) -> str:
    if result.page is PageState.SAME:
        return "Page compared: report.html is what this version of Chiron makes of report.json."
    maker = (
        f"version {one_line(result.page_maker, chars_max=60)}" if result.page_maker else "an older version"
    )
    return f"Page not compared: the crate says that {maker} of Chiron made it. Rely on report.json, or on a signature."
