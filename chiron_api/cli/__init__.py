"""The `chiron` command: every module of this folder that has a `cli` brings its own commands."""

import asyncio
import functools
import importlib
import inspect
import logging
import os
import pkgutil
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine
from typing import Any

import typer
from typer.core import TyperGroup

from chiron_workers.errors import ChironError, ToolValidationError, UsageError


class Commands(TyperGroup):
    """Shows an error as one sentence and an exit code: 2 for a wrong call, 1 for a failure, 130 for Ctrl+C."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and exit with the code of its error."""
        try:
            return super().invoke(ctx)
        except (UsageError, ToolValidationError) as error:
            _fail(str(error), code=2)
        except ChironError as error:
            _fail(str(error), code=1)
        except KeyboardInterrupt:
            sys.exit(130)
        except BrokenPipeError:
            sys.stderr.close()  # The reader of the output has gone, so a message would fail too.
            sys.exit(141)
        except OSError as error:
            _fail(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}.", code=1)


def build(command: str = "") -> typer.Typer:
    """The command line: whole, or the one module that is named like `command`, which starts faster.

    A command that is a coroutine function is run by asyncio.
    """
    app = typer.Typer(
        name="chiron",
        cls=Commands,
        help="Long research by Claude agents: submit topics, watch them, read what was found.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=False,
    )
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    for name in [command.replace("-", "_")] if command.replace("-", "_") in names else names:
        module = importlib.import_module(f"{__name__}.{name}")
        if hasattr(module, "cli"):
            for entry in module.cli.registered_commands:
                if inspect.iscoroutinefunction(entry.callback):
                    entry.callback = _run_async(entry.callback)
            app.add_typer(module.cli)
    return app


def raise_on_sigterm() -> None:
    """Let SIGTERM and a closed terminal raise KeyboardInterrupt too, so that cleanup runs.

    A signal that is ignored, as SIGHUP under `nohup`, stays ignored.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)


def main() -> None:
    """Entry point of the `chiron` script."""
    # The pool warns of each attempt to connect; the command reports the failure once.
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    try:
        build(sys.argv[1] if len(sys.argv) > 1 else "")()
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


def _fail(message: str, *, code: int) -> None:
    # A message may quote a file or a server; control characters in it would reach the terminal.
    printable = "".join(letter for letter in message if letter == "\n" or letter.isprintable())
    sys.stderr.write(f"chiron: {printable}\n")
    sys.exit(code)
