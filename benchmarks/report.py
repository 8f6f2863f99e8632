"""All published figures made anew: `uv run --group benchmarks python benchmarks/report.py --all [--quick] [--only NAME ...]`.

Runs the programs of `programs.py` one after the other, each in a process of its own, and writes what they measured to a file of
JSON and their tables to one of Markdown, with the commit, the machine and the load before and after each. A program that fails is
reported as that, and the next one begins. `--quick` takes tiny sizes: its figures say nothing but that the programs run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from aims import aims
from cpu import load_average, machine
from programs import ELSEWHERE, PROGRAMS, Program

HERE = Path(__file__).parent
PATIENCE_S = 2 * 3_600.0  # with one program
LINES_MAX = 40  # of what a program without tables has printed


def main() -> None:
    arguments = _arguments()
    programs = [program for program in PROGRAMS if not arguments.only or program.name in arguments.only]
    began = time.monotonic()
    results: dict[str, dict[str, Any]] = {}
    document: dict[str, Any] = {
        "commit": commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "sizes": "quick" if arguments.quick else "full",
        "machine": machine(),
        "programs": results,
    }
    for program in programs:
        print(f"{program.name} ...", file=sys.stderr, flush=True)
        results[program.name] = play(program, is_quick=arguments.quick)
        document["minutes"] = round((time.monotonic() - began) / 60, 1)
        # After each of them: what takes an hour may be stopped.
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")
        arguments.markdown.write_text(markdown(document))
    print(arguments.markdown.read_text())
    raise SystemExit(1 if any(result["failed"] for result in results.values()) else 0)


def _arguments() -> argparse.Namespace:
    minutes = sum(program.minutes for program in PROGRAMS)
    parser = argparse.ArgumentParser(description=__doc__)
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument(
        "--all", action="store_true", help=f"Every program: about {minutes:.0f} minutes on two cores."
    )
    names = [program.name for program in PROGRAMS]
    chosen.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=", ".join(names))
    parser.add_argument(
        "--quick", action="store_true", help="Tiny sizes: a few minutes, and no figures worth quoting."
    )
    parser.add_argument("--json", type=Path, default=Path("report.json"), help="Where all figures go.")
    parser.add_argument("--markdown", type=Path, default=Path("report.md"), help="Where the tables go.")
    return parser.parse_args()


def play(program: Program, *, is_quick: bool) -> dict[str, Any]:
    """What a program measured, or why it did not: command, seconds, load, figures, tables, output."""
    command, before = program.command(is_quick=is_quick), load_average()
    result: dict[str, Any] = {
        "command": " ".join(command),
        "failed": "",
        "figures": {},
        "tables": [],
        "output": "",
    }
    if program.needs_rivals and find_spec("dbos") is None:
        return result | {"failed": "the rivals are not installed: run it with `uv run --group benchmarks`"}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        options = ["--json", str(file)] if program.has_json else []
        ended, output = _run([sys.executable, str(HERE / command[0]), *command[1:], *options], folder)
        found = json.loads(file.read_text()) if file.exists() else {}
    if ended != 0:
        result["failed"] = (output.strip().splitlines() or ["it ended without a word"])[-1]
    if "figures" in found:
        result |= {name: found[name] for name in ("figures", "tables") if name in found}
    else:
        result |= {"figures": found, "output": "\n".join(output.strip().splitlines()[-LINES_MAX:])}
    return result | {"seconds": round(time.monotonic() - began), "load": [before, load_average()]}


def _run(command: list[str], folder: str) -> tuple[int, str]:
    """How a program ended, and what it printed."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )
    try:
        output, _ = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.terminate()  # it ends its services then
        output, _ = process.communicate()
        return 1, f"{output}\nIt took more than {PATIENCE_S / 60:.0f} minutes."
    return process.returncode, output


def commit() -> str:
    """The commit that is measured, and whether files differ from it."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, cwd=HERE, check=False)
        return done.stdout.strip()

    name = git("log", "-1", "--format=%h %cs") or "no repository"
    return name + (" with changes" if git("status", "--porcelain", "--untracked-files=no") else "")


def markdown(document: dict[str, Any]) -> str:
    """The report: what was measured on, what is aimed at, and the tables of each program."""
    on = document["machine"]
    place = f"{on['system']}, {on['cores']} cores, {on['memory_gb']} GB, Python {on['python']}"
    lines = [
        "# Results",
        "",
        f"Made by `benchmarks/report.py` at commit {document['commit']}, {document['date']}, in {document['minutes']} minutes:",
        f"{place}.",
        "Loads are of the last minute, before and after; they include the program, whose services share the cores with it.",
    ]
    if document["sizes"] == "quick":
        lines += ["", "**Quick sizes: these figures only show that the programs run.**"]
    programs = document["programs"]
    figures = {name: result["figures"] for name, result in programs.items()}
    lines += ["", "## Aims", "", *_table(["", "measured", "aim", "met"], aims(figures))]
    lines += [
        "",
        "## Programs",
        "",
        *_table(["program", "seconds", "load", ""], [_summary(*item) for item in programs.items()]),
    ]
    for name, result in programs.items():
        lines += ["", f"## {name}", "", f"`benchmarks/{result['command']}`", *_body(result)]
    lines += ["", "## Not made here", "", *(f"- `{name}`: needs {what}." for name, what in ELSEWHERE.items())]
    return "\n".join(lines) + "\n"


def _summary(name: str, result: dict[str, Any]) -> list[str]:
    load = " to ".join(str(each) for each in result.get("load", []))
    return [
        name,
        str(result.get("seconds", "")),
        load,
        f"failed: {result['failed']}" if result["failed"] else "",
    ]


def _body(result: dict[str, Any]) -> list[str]:
    lines = ["", f"**Failed: {result['failed']}**"] if result["failed"] else []
    for shown in result["tables"]:
        lines += ["", f"{shown['title']}:", "", *_table(shown["columns"], shown["rows"])]
    if result["output"]:
        lines += ["", "```", result["output"], "```"]
    return lines


def _table(columns: list[str], rows: list[list[str]]) -> list[str]:
    width = len(columns)
    cells = [[cell.replace("|", "/").strip() for cell in row] + [""] * (width - len(row)) for row in rows]
    return [f"| {' | '.join(row)} |" for row in (columns, ["---"] * width, *cells)]


if __name__ == "__main__":
    main()
