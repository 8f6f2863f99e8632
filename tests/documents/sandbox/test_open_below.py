import os
import socket
import tempfile
import threading
from pathlib import Path

import pytest

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.sandbox.open_below import OutsideError, list_folder, open_below

NOBODY = 65_534
SECRET = "the secret word is xyzzy"


@pytest.fixture
def allowed(tmp_path: Path) -> Path:
    """A folder that may be read, with a secret beside it and every kind of file in it."""
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "allowed-not").mkdir()
    (tmp_path / "allowed-not" / "secret.txt").write_text(SECRET)
    root = tmp_path / "allowed"
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "b.txt").write_text("inside")
    (root / "line\nbreak.txt").write_text("inside")
    (root / ".env").write_text(SECRET)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text(SECRET)
    (root / "to-secret").symlink_to("../secret.txt")
    (root / "to-root").symlink_to("/")
    (root / "to-hidden").symlink_to(".env")
    (root / "to-inside").symlink_to("deep/er/b.txt")
    (root / "loop").symlink_to("loop")
    (root / "nowhere").symlink_to("nothing")
    (root / "to-zero").symlink_to("/dev/zero")
    os.mkfifo(root / "pipe")
    return root


def text(path: str, folder: Path, *, bytes_max: int = 1000) -> str:
    with open_below(path, [folder]) as target:
        return target.read(bytes_max=bytes_max).decode()


@pytest.mark.parametrize(
    "path", ["deep/er/b.txt", "to-inside", "deep/../to-inside", "./deep//er/b.txt", "line\nbreak.txt"]
)
def test_a_file_inside_is_read_by_any_way_that_stays_inside(allowed: Path, path: str) -> None:
    assert text(path, allowed) == text(str(allowed / path), allowed) == "inside"


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "deep/../../secret.txt",
        "deep/er/../../../secret.txt",
        "../allowed-not/secret.txt",
        "{tmp}/secret.txt",
        "{tmp}/allowed-not/secret.txt",
        "{tmp}/allowed/../secret.txt",
        "//{tmp}/secret.txt",
        "to-secret",
        "to-root/etc/passwd",
        "to-root{tmp}/secret.txt",
        "to-zero",
        "/etc/passwd",
        "/dev/zero",
        "/dev/stdin",
        "/proc/self/environ",
        "/proc/self/fd/0",
        "/proc/self/root/etc/passwd",
        "/proc/1/environ",
        "{tmp}",
        "..",
        "/",
        "/nothing/at/all",
    ],
)
def test_nothing_outside_is_read_nor_told_of(allowed: Path, tmp_path: Path, path: str) -> None:
    with pytest.raises(OutsideError, match="it is not below a folder that may be read"):
        text(path.format(tmp=tmp_path), allowed)


@pytest.mark.parametrize("path", [".env", ".git/config", "to-hidden", "deep/../.env", "deep/.nothing"])
def test_hidden_files_are_not_read(allowed: Path, path: str) -> None:
    with pytest.raises(UnreadableError, match="it is hidden"):
        text(path, allowed)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("nothing", "there is no such file"),
        ("nowhere", "there is no such file"),
        ("deep/er/b.txt/c", "there is no such file"),
        ("~/x", "there is no such file"),
        ("file:///etc/passwd", "there is no such file"),
        ("loop", "it is a link, no regular file"),
        ("pipe", "it is a pipe, no regular file"),
        ("a\0b", "that is no path"),
        ("\ud800", "that is no path"),
        ("x" * 5_000, "File name too long"),
        ("x/" * 5_000, "File name too long"),
    ],
)
def test_what_is_no_file_is_said_at_once(allowed: Path, path: str, sentence: str) -> None:
    with pytest.raises(UnreadableError, match=sentence):
        text(path, allowed)


def test_sockets_and_devices_are_not_opened(allowed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(allowed)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        with pytest.raises(UnreadableError, match="it is a socket"):
            text("socket", allowed)
    with pytest.raises(UnreadableError, match="it is a device, no regular file"):
        text("zero", Path("/dev"))


def test_a_huge_file_costs_no_memory(allowed: Path) -> None:
    with (allowed / "huge").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(
        UnreadableError, match="it is larger than 1,000 bytes; CHIRON_FILE_BYTES_MAX allows more"
    ):
        text("huge", allowed)


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="there is no /proc")
def test_a_file_that_hides_its_size_is_read_up_to_the_limit() -> None:
    assert Path("/proc/kallsyms").stat().st_size == 0
    with pytest.raises(UnreadableError, match="larger than 1,000 bytes"):
        text("kallsyms", Path("/proc"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_a_file_that_the_system_refuses_is_said() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        (Path(folder) / "a.txt").write_text(SECRET)
        (Path(folder) / "a.txt").chmod(0o600)
        os.seteuid(NOBODY)
        try:
            with (
                pytest.raises(UnreadableError, match="Permission denied"),
                open_below("a.txt", [Path(folder)]),
            ):
                pass
        finally:
            os.seteuid(0)


def test_a_folder_that_becomes_a_link_while_it_is_opened_leads_nowhere(allowed: Path, tmp_path: Path) -> None:
    inside, outside = allowed / "turning", tmp_path / "outside"
    for folder, words in ((inside, "inside"), (outside, SECRET)):
        folder.mkdir()
        (folder / "a.txt").write_text(words)
    done = threading.Event()

    def turn() -> None:
        aside, link = allowed / "aside", allowed / "link"
        link.symlink_to(outside)
        while not done.is_set():
            inside.rename(aside)
            link.rename(inside)
            inside.rename(link)
            aside.rename(inside)

    turning = threading.Thread(target=turn)
    turning.start()
    outcomes = set()
    try:
        for _ in range(2_000):
            try:
                outcomes.add(text("turning/a.txt", allowed))
            except UnreadableError as error:
                outcomes.add(str(error))
    finally:
        done.set()
        turning.join()
    assert "inside" in outcomes
    assert SECRET not in outcomes


def test_a_listing_shows_folders_first_and_nothing_hidden(allowed: Path) -> None:
    with open_below("", [allowed]) as folder:
        target = [(entry.name, entry.kind) for entry in list_folder(folder)]
    assert target == [
        ("deep", "folder"),
        ("line\nbreak.txt", "file"),
        ("loop", "link"),
        ("nowhere", "link"),
        ("pipe", "other"),
        ("to-hidden", "link"),
        ("to-inside", "link"),
        ("to-root", "link"),
        ("to-secret", "link"),
        ("to-zero", "link"),
    ]


def test_a_relative_path_is_looked_for_in_every_folder(allowed: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.txt").write_text("in the other")
    with open_below("c.txt", [allowed, other]) as target:
        assert (target.read(bytes_max=99), target.path) == (b"in the other", other.resolve() / "c.txt")


def test_the_folder_itself_may_be_a_link(allowed: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(allowed)
    assert text("deep/er/b.txt", tmp_path / "alias") == "inside"
    assert text(str(allowed / "deep/er/b.txt"), tmp_path / "alias") == "inside"
