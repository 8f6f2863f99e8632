"""What starting a command takes: `uv run python benchmarks/starts.py [--trees FOLDER ...] [--repeats N] [--json FILE]`.

`--trees` names work trees whose commands are started in turns, so that both meet the same machine. CPU is what other work beside
it hardly changes. `doctor` looks for services that are not there, as on a new machine.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from cpu import load_average
from figures import begin, table

HERE = Path(__file__).parents[1]
USAGE = Path(__file__).with_name("command_usage.py")
COMMANDS = (
    "--help",
    "submit --help",
    "results --help",
    "report --help",
    "show --help",
    "watch --help",
    "doctor --help",
    "doctor",
)
GOOD = {0, 1}  # of `doctor`, where it finds something wrong


def usage_of(tree: Path, command: str, home: str) -> dict[str, Any]:
    """What one start took."""
    python = tree / ".venv/bin/python"
    words = [str(python), "-S", str(USAGE), str(python), "-m", "chiron_api", *command.split()]
    # The second call of a command finds its bytecode compiled.
    hidden = ("CHIRON_", "ANTHROPIC_", "PYTHONDONTWRITEBYTECODE")
    env = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    services = {
        "CHIRON_HOME": home,
        "CHIRON_DATABASE_URL": "postgresql://127.0.0.1:1/none",
        "CHIRON_REDIS_URL": "redis://127.0.0.1:1/0",
    }
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=env | services, cwd=tree)
    figures: dict[str, Any] = json.loads(done.stdout)
    assert figures["exit"] in GOOD, f"chiron {command} ended with {figures['exit']}"
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--trees", nargs="+", type=Path, default=[HERE], help="Work trees, each with its .venv."
    )
    parser.add_argument("--commands", nargs="+", default=COMMANDS, metavar="COMMAND")
    parser.add_argument("--repeats", type=int, default=15)
    with begin(parser) as (arguments, report), tempfile.TemporaryDirectory() as home:
        rows = []
        for command in arguments.commands:
            times: dict[str, list[dict[str, Any]]] = {tree.name: [] for tree in arguments.trees}
            for n in range(arguments.repeats + 1):
                for tree in arguments.trees:
                    figures = usage_of(tree.resolve(), command, home)
                    if n:  # the first start writes bytecode
                        times[tree.name].append(figures)
            for name, repeats in times.items():
                report.figures[f"{command}, {name}"] = repeats
                parts = [
                    median(each[column] for each in repeats) for column in ("cpu_s", "wall_s", "peak_mb")
                ]
                least = min(each["cpu_s"] for each in repeats)
                rows.append(
                    [
                        f"{command}, {name}",
                        f"{parts[0]:.3f}",
                        f"{least:.3f}",
                        f"{parts[1]:.3f}",
                        f"{parts[2]:.0f}",
                    ]
                )
        columns = ["command", "CPU s", "least CPU s", "s", "peak MB"]
        table(f"Starting a command, load {load_average()}", columns, rows)


if __name__ == "__main__":
    main()
