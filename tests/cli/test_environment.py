"""A misspelt setting in the environment is named where it would matter."""

import json

import pytest
from support.worker_processes import chiron as chiron_process


@pytest.mark.parametrize("options", [(), ("--dry-run",)], ids=["submit", "dry run"])
def test_submit_says_it_on_standard_error(
    chiron, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CHIRON_RUN_BUDGT_USD", "5")
    answer = chiron("submit", "A", "-s", "S", *options)
    assert (answer.exit_code, "did you mean CHIRON_RUN_BUDGET_USD?" in answer.stderr) == (0, True)
    assert "BUDGT" not in answer.stdout


def test_doctor_names_it(chiron, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIRON_RUN_BUDGT_USD", "5")
    checks = json.loads(chiron("doctor", "--json").stdout)["checks"]
    [check] = [check for check in checks if check["name"] == "environment"]
    assert (check["ok"], "CHIRON_RUN_BUDGET_USD" in check["found"]) == (False, True)


def test_up_says_it_before_it_starts(settings, tmp_path) -> None:
    (home := tmp_path / "home").write_text("no folder")
    answer = chiron_process(settings, "up", "--detach", CHIRON_HOME=str(home), CHIRON_RUN_BUDGT_USD="5")
    assert (answer.returncode, "did you mean CHIRON_RUN_BUDGET_USD?" in answer.stderr) == (1, True)
