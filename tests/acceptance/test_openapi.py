"""The OpenAPI document before the judges of others: Redocly's linter, and Schemathesis against a real server."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.api_server import api_client
from support.loop_thread import loop_thread
from support.npm_packages import TEST_S, installed, node

from chiron_api.http.document import document
from chiron_api.local_stack.access import api_key
from chiron_workers.settings import Settings

pytestmark = [pytest.mark.acceptance, pytest.mark.timeout(TEST_S)]


def test_the_linter_finds_no_error_and_no_warning_in_the_document(tmp_path: Path):
    file = tmp_path / "openapi.json"
    file.write_text(json.dumps(document()))
    linter = installed("@redocly/cli") / "bin" / "cli.js"
    # A server of one's own has no address that the document could name.
    arguments = ["lint", "--format=stylish", "--max-problems=50", "--skip-rule=no-empty-servers", str(file)]
    verdict = node(linter, *arguments, timeout_s=120, cwd=tmp_path)
    assert verdict.returncode == 0, verdict.stdout + verdict.stderr
    assert "warning" not in verdict.stdout, verdict.stdout


EXAMPLES = int(os.environ.get("CHIRON_SCHEMATHESIS_EXAMPLES", "4"))
# What a schema cannot say is refused with 422 and a sentence: a cron expression, a tool's arguments, a spent budget; the ending
# of the name that a form gives its file, with 415.
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 401, 403, 404, 409, 415, 422, 503]

# A text that is too long may make a body that is.
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, "5xx"]

# In a form every value is text, so that none can violate a type.
[[operations]]
include-name = "POST /v1/subjects/{id}/documents"
generation.mode = "positive"
"""
SCHEMATHESIS_S = 900
STREAMS = ("stream_batch_events", "stream_run_events")  # which go on for as long as a run does


@pytest.mark.timeout(SCHEMATHESIS_S + 60)
def test_schemathesis_finds_no_answer_that_the_document_does_not_promise(
    settings: Settings, tmp_path: Path, seed: int
):
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG)
    with loop_thread() as loop, loop.entered(api_client(settings)) as api:
        command = [
            str(Path(sys.executable).parent / "schemathesis"),
            f"--config-file={config}",
            "run",
            f"{api.base_url}/openapi.json",
            f"--header=Authorization: Bearer {api_key(settings)}",
            "--checks=all",
            f"--seed={seed}",
            f"--max-examples={EXAMPLES}",
            "--request-timeout=30",
            "--max-failures=30",
            *(f"--exclude-operation-id={name}" for name in STREAMS),
        ]
        verdict = subprocess.run(
            command, capture_output=True, text=True, timeout=SCHEMATHESIS_S, check=False, cwd=tmp_path
        )
    assert verdict.returncode == 0, verdict.stdout + verdict.stderr
