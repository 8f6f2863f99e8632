"""Folders in which somebody starts Flower: each file of flower_folders/ lies there, and none is run."""

import shutil
from pathlib import Path

from support.flower_server import flower

from chiron_workers.settings import Settings

MEMBERS = sorted((Path(__file__).parent / "flower_folders").glob("*.py"))


def test_flower_runs_no_code_of_the_folder_it_is_started_in(settings: Settings, tmp_path: Path) -> None:
    folder, canary = tmp_path / "cloned", tmp_path / "canary"
    folder.mkdir()
    for member in MEMBERS:
        shutil.copy(member, folder)
    with flower(settings, folder, CANARY_FILE=str(canary)) as server:
        assert server.request("/tasks")[0] == 200
    assert not canary.exists(), canary.read_text()
