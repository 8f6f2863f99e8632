"""The official conformance suite of MCP, for servers and for clients."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from support.npm_packages import installed, node

PACKAGE = "@modelcontextprotocol/conformance"
LINE = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", re.MULTILINE)
SERVER_S = 110
SCENARIO_S = 60


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the suite found: (passed, failed) checks by scenario; `required` are those that a revision asks for."""

    scenarios: dict[str, tuple[int, int]]
    required: frozenset[str]
    exit_code: int
    output: str

    def missed(self) -> dict[str, tuple[int, int] | None]:
        """The required scenarios that did not run, or have a failed check."""
        found = {name: self.scenarios.get(name) for name in self.required}
        return {
            name: counts for name, counts in found.items() if counts is None or counts[1] or not counts[0]
        }


def judge_server(url: str, revision: str, folder: Path) -> Verdict:
    """Run everything that a revision of the protocol requires of a server; `folder` gets the details."""
    package = installed(PACKAGE)
    options = ["--requirements", revision, "--url", url, "--output-dir", str(folder)]
    done = node(package / "dist" / "index.js", "server", *options, timeout_s=SERVER_S, cwd=folder)
    output = done.stdout + done.stderr
    scenarios = {name: (int(passed), int(failed)) for name, passed, failed in LINE.findall(output)}
    return Verdict(scenarios, required("server", revision), done.returncode, output)


def judge_client(command: str, scenario: str, revision: str, folder: Path) -> dict[str, str]:
    """Run one scenario of a client; the status of each check by its id: SUCCESS, FAILURE, WARNING or INFO.

    Args:
        command: A shell command. The server's address is appended, and MCP_CONFORMANCE_SCENARIO and
            MCP_CONFORMANCE_PROTOCOL_VERSION say what is asked of it. `required("client", revision)` names the scenarios.
    """
    package = installed(PACKAGE)
    options = ["--scenario", scenario, "--spec-version", revision, "--output-dir", str(folder)]
    arguments = ["client", "--command", command, *options]
    done = node(package / "dist" / "index.js", *arguments, timeout_s=SCENARIO_S, cwd=folder)
    checks = [check for file in folder.glob("*/checks.json") for check in json.loads(file.read_text())]
    assert checks, done.stdout + done.stderr
    return {check["id"]: check["status"] for check in checks}


def required(role: str, revision: str) -> frozenset[str]:
    """The scenarios that a revision requires of a `server` or a `client`."""
    listed = (installed(PACKAGE) / "requirements" / f"{revision}.yaml").read_text()
    return frozenset(yaml.safe_load(listed)[role])
