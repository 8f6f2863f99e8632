import os
from pathlib import Path

import pytest

from chiron_api.atomic_file import atomic_write


def test_a_file_that_another_user_has_made_beforehand_is_not_written_to(tmp_path: Path) -> None:
    target, trap = tmp_path / "a.backup", tmp_path / "trap"
    (tmp_path / f".{target.name}.{os.getpid()}.unfinished").symlink_to(trap)
    with atomic_write(target) as file:
        file.write_text("private")
    assert (target.read_text(), target.is_symlink(), trap.exists()) == ("private", False, False)


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), atomic_write(tmp_path / "a.backup") as file:
        file.write_text("private")
        tmp_path.write_text("no file")
    assert list(tmp_path.iterdir()) == []
