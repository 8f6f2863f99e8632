import sys
from pathlib import Path

import pytest
from support.mcp_conformance import judge_client, required

HERE = Path(__file__).parent
COMMAND = f"env PYTHONPATH={HERE.parent} {sys.executable} {HERE / 'conformance_client.py'}"
# Nobody is there to sign in, or to answer what a server asks.
NOT_FOR_US = ("auth/", "elicitation-")
SCENARIOS = {
    "2025-11-25": {"initialize", "tools_call", "sse-retry"},
    "2026-07-28": {
        "tools_call",
        "request-metadata",
        "sep-2322-client-request-state",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
    },
}

pytestmark = pytest.mark.acceptance


@pytest.mark.parametrize(
    ("revision", "scenario"),
    [(revision, name) for revision in SCENARIOS for name in sorted(SCENARIOS[revision])],
)
def test_the_client_conforms_to_the_protocol(revision: str, scenario: str, tmp_path: Path):
    checks = judge_client(COMMAND, scenario, revision, tmp_path)
    assert {name: found for name, found in checks.items() if found in ("FAILURE", "WARNING")} == {}
    assert {"SUCCESS", "SKIPPED"} & set(checks.values())


@pytest.mark.parametrize("revision", list(SCENARIOS))
def test_every_scenario_that_is_required_and_for_us_is_run(revision: str):
    asked = {name for name in required("client", revision) if not name.startswith(NOT_FOR_US)}
    assert asked == SCENARIOS[revision]
