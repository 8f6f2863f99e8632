import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.mcp_conformance import judge_server
from support.npm_packages import TEST_S

TESTS = Path(__file__).parents[1]
SERVER = [sys.executable, "-m", "mcp_server.conformance_server"]

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(TEST_S)]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of our server with what the suite expects to find there."""
    folder = tmp_path_factory.mktemp("conformance")
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(SERVER, stdout=subprocess.PIPE, stderr=log, cwd=TESTS, text=True) as process,
    ):
        yield process.stdout.readline().strip()
        process.terminate()


# What the suite counts for nobody yet, and passes all the same.
BESIDE = {
    "2025-11-25": {"server-session-lifecycle", "json-schema-2020-12"},
    "2026-07-28": {
        "json-schema-2020-12",
        "http-header-validation",
        "http-custom-header-server-validation",
    },
}


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_the_server_conforms_to_the_protocol(url: str, revision: str, tmp_path: Path):
    verdict = judge_server(url, revision, tmp_path)
    assert verdict.missed() == {}, verdict.output[-4_000:]
    assert verdict.exit_code == 0
    assert {name for name in BESIDE[revision] if verdict.scenarios[name][1]} == set()
