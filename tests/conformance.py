"""The official conformance suite of MCP, for servers and for clients."""

import re
from dataclasses import dataclass
from pathlib import Path

import yaml
from npm_packages import installed, node

LINE = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", re.MULTILINE)
SUITE_S = 110


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


def conformance(role: str, revision: str, *options: str, folder: Path) -> Verdict:
    """Run what a revision of the protocol requires of a `server` (--url URL) or a `client` (--command COMMAND)."""
    package = installed("@modelcontextprotocol/conformance")
    arguments = [role, "--requirements", revision, "--output-dir", str(folder), *options]
    done = node(package / "dist" / "index.js", *arguments, timeout_s=SUITE_S, cwd=folder)
    required = yaml.safe_load((package / "requirements" / f"{revision}.yaml").read_text())[role]
    output = done.stdout + done.stderr
    scenarios = {name: (int(passed), int(failed)) for name, passed, failed in LINE.findall(output)}
    return Verdict(scenarios, frozenset(required), done.returncode, output)
