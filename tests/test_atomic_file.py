import errno
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


def test_a_target_that_cannot_be_written_is_named_and_not_the_temporary_file(tmp_path: Path) -> None:
    target = tmp_path / "missing" / "report.md"
    with pytest.raises(FileNotFoundError) as caught, atomic_write(target) as path:
        path.write_text("words")
    assert caught.value.filename == str(target)


def test_a_full_disk_names_the_target(tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    with pytest.raises(OSError, match="No space left") as caught, atomic_write(target) as path:
        path.write_text("words")
        Path("/dev/full").write_text("words")
    assert caught.value.filename == str(target)
    assert list(tmp_path.iterdir()) == []


def test_a_read_only_file_system_names_the_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "write_text", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    target = tmp_path / "report.md"
    with pytest.raises(OSError, match="Read-only") as caught, atomic_write(target) as path:
        path.write_text("words")
    assert caught.value.filename == str(target)
