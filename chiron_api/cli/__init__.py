"""The `chiron` command: `commands.py` names its commands, and each lies in a module of this folder."""

import asyncio
import functools
import gc
import importlib
import inspect
import logging
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, NoReturn

import typer
from typer._click.exceptions import ClickException, NoArgsIsHelpError  # without a public name

from chiron_api.cli.commands import GROUPS, SUMMARIES
from chiron_api.cli.input.usage import SuggestingGroup, usage_sentence
from chiron_workers.errors import ChironError, ToolValidationError, UsageError

NEW_OBJECTS = 200_000  # until garbage is looked for
PLAIN: dict[str, Any] = {"pretty_exceptions_enable": False, "rich_markup_mode": None}


class Commands(SuggestingGroup):
    """Shows an error as one sentence and an exit code: 2 for a wrong call, 1 for a failure, 130 for Ctrl+C."""

    def list_commands(self, ctx: Any) -> list[str]:  # the base class has it
        """The names of all commands, also of those that are not imported."""
        return list(SUMMARIES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # the base class has it
        """The command of this name, imported now; None if there is none."""
        command = load_command(cmd_name) if cmd_name in SUMMARIES else None
        if not gc.isenabled():
            gc.freeze()
            # Rows that are read make no cycles, so that looking for some among them finds nothing.
            gc.set_threshold(NEW_OBJECTS)
            gc.enable()
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # the base class has it
        """Write the overview of all commands, group by group."""
        width = max(map(len, SUMMARIES))
        for title, summaries in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), summary.sentence) for name, summary in summaries.items()]
                )

    def make_context(self, *args: Any, **options: Any) -> Any:  # the base class has it
        """The context of a call. A wrong option in front of the command ends it."""
        try:
            return super().make_context(*args, **options)
        except NoArgsIsHelpError:
            raise
        except ClickException as error:
            _fail(usage_sentence(error), code=error.exit_code)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and exit with the code of its error."""
        try:
            return super().invoke(ctx)
        except NoArgsIsHelpError:
            raise  # typer prints the help
        except ClickException as error:
            _fail(usage_sentence(error), code=error.exit_code)
        except ToolValidationError as error:
            _fail(_plain_sentence(error), code=2)
        except UsageError as error:
            _fail(_with_remedies(error), code=2)
        except ChironError as error:
            _fail(_with_remedies(error), code=1)
        except KeyboardInterrupt:
            sys.exit(130)
        except BrokenPipeError:
            sys.stderr.close()  # The reader of the output has gone, so a message would fail too.
            sys.exit(141)
        except OSError as error:
            from chiron_api.atomic_file import FULL

            # A full disk is noticed where a file is closed, which no longer has a name.
            place = f": {error.filename}" if error.filename else " for the output" * (error.errno in FULL)
            _fail(f"{error.strerror or error}{place}.", code=1)


class Subcommands(SuggestingGroup):
    """A command of several, whose overview shows the first sentence of each, whole."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # the base class has it
        """Write the overview of its commands."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, _first_sentence(command.help or "")) for name, command in self.commands.items()]
            )


def build() -> typer.Typer:
    """The command line. A command's module is imported once the command is called."""
    app = typer.Typer(
        **PLAIN,
        cls=Commands,
        help="Long research by Claude agents: submit topics, watch them, read what was found.",
        no_args_is_help=True,
    )
    app.callback()(_options)
    return app


def load_command(name: str) -> Any:
    """A command, imported from its module. One that is a coroutine function is run by asyncio."""
    module = importlib.import_module(f"{__name__}.{SUMMARIES[name].module}")
    for entry in module.cli.registered_commands:
        if inspect.iscoroutinefunction(entry.callback):
            entry.callback = _run_async(entry.callback)
    app = typer.Typer(**PLAIN)
    app.add_typer(module.cli, cls=Subcommands)
    return typer.main.get_group(app).commands[name]


def _first_sentence(text: str) -> str:
    paragraph = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=\.) ", paragraph, maxsplit=1)[0]


def _show_version(is_asked: bool) -> None:
    if is_asked:
        import importlib.metadata

        typer.echo(f"chiron {importlib.metadata.version('chiron')}")
        raise typer.Exit


def _options(
    version: Annotated[  # its callback does it
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass


def raise_on_sigterm() -> None:
    """Let SIGTERM and a closed terminal raise KeyboardInterrupt too, so that cleanup runs.

    A signal that is ignored, as SIGHUP under `nohup`, stays ignored.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def main() -> None:
    """Entry point of the `chiron` script."""
    # What is imported stays: looking for garbage in it takes a tenth of the start.
    gc.disable()
    # The pool warns of each attempt to connect; the command reports the failure once.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    try:
        build()()
    except Exception as error:  # noqa: BLE001  # the process boundary
        if os.environ.get("CHIRON_LOG_LEVEL") == "debug":
            traceback.print_exc()
        _fail(
            f"Unexpected {type(error).__name__}: {error}. Run again with CHIRON_LOG_LEVEL=debug for the details.",
            code=1,
        )


def _run_async(command: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(command)
    def call(*args: Any, **options: Any) -> None:
        asyncio.run(command(*args, **options))

    return call


def _plain_sentence(error: ToolValidationError) -> str:
    """The error with the noun of the field that it begins with, since options have other names."""
    noun = error.field.removesuffix("_id").replace("_", " ")
    return str(error).replace(f"{error.field}: must ", f"The {noun} must ", 1)


def _with_remedies(error: ChironError) -> str:
    if not error.remedies:
        return str(error)
    from chiron_api.cli.display.remedies import remedy_lines

    lines = list(remedy_lines(error.remedies))
    return f"{error} {lines[0].strip()}" if len(lines) == 1 else "\n".join((str(error), *lines))


def _fail(message: str, *, code: int) -> NoReturn:
    # A message may quote a file or a server; control characters in it would reach the terminal.
    printable = "".join(letter for letter in message if letter == "\n" or letter.isprintable())
    sys.stderr.write(f"chiron: {printable}\n")
    sys.exit(code)
