"""A misspelt setting in the environment is named where it would matter."""

import json
from pathlib import Path

import pytest
from support.worker_processes import chiron as chiron_process

from chiron_workers.settings import settings as read_settings


@pytest.mark.parametrize("options", [(), ("--dry-run",)], ids=["submit", "dry run"])
def test_submit_names_a_misspelt_setting_on_standard_error(
    chiron, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CHIRON_RUN_BUDGT_USD", "5")
    answer = chiron("submit", "A", "-s", "S", *options)
    assert (answer.exit_code, "did you mean CHIRON_RUN_BUDGET_USD?" in answer.stderr) == (0, True)
    assert "BUDGT" not in answer.stdout


def test_doctor_names_a_misspelt_setting(chiron, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIRON_RUN_BUDGT_USD", "5")
    checks = json.loads(chiron("doctor", "--json").stdout)["checks"]
    [check] = [check for check in checks if check["name"] == "environment"]
    assert (check["ok"], "CHIRON_RUN_BUDGET_USD" in check["found"]) == (False, True)


def test_up_names_a_misspelt_setting_before_it_starts(settings, tmp_path) -> None:
    (home := tmp_path / "home").write_text("no folder")
    answer = chiron_process(settings, "up", "--detach", CHIRON_HOME=str(home), CHIRON_RUN_BUDGT_USD="5")
    assert (answer.returncode, "did you mean CHIRON_RUN_BUDGET_USD?" in answer.stderr) == (1, True)


@pytest.mark.parametrize("command", ["up", "down", "status", "doctor", "list"])
@pytest.mark.parametrize("below", ["", "below"])
def test_a_home_that_is_a_file_is_one_sentence(
    chiron, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str, below: str
) -> None:
    (file := tmp_path / "home").write_text("no folder")
    monkeypatch.setenv("CHIRON_HOME", str(file / below))
    read_settings.cache_clear()
    answer = chiron(command)
    assert (answer.exit_code, answer.stdout, answer.stderr.count("\n")) == (1, "", 1)
    assert f"CHIRON_HOME is {file / below}, and {file if below else 'it'} is a file" in answer.stderr
    assert "Set CHIRON_HOME to a folder" in answer.stderr
    assert file.read_text() == "no folder"
