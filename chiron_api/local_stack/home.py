"""The folder of a local stack: its paths, its permissions, and the lock of whoever is starting it."""

import fcntl
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from chiron_api.atomic_file import FULL
from chiron_workers.errors import ChironError, ConfigurationError, Conflict

# macOS allows a socket's path 103 bytes, Linux 107; the longest name in the folder of sockets takes 28.
SOCKET_FOLDER_BYTES = 75
PRIVATE_UMASK = 0o077
SPACE_ADVICE = "Make at least 1 GB free there, or set CHIRON_HOME to a folder on a larger disk."


@dataclass(frozen=True, slots=True)
class Home:
    """A CHIRON_HOME as an absolute path, and the paths in it."""

    folder: Path

    @property
    def postgres(self) -> Path:
        """PostgreSQL's data."""
        return self.folder / "postgres"

    @property
    def valkey(self) -> Path:
        """Valkey's data."""
        return self.folder / "valkey"

    @property
    def logs(self) -> Path:
        """One log for each part, with its older pieces."""
        return self.folder / "logs"

    @property
    def sockets(self) -> Path:
        """Folder of the Unix sockets: in the home, or where that path is too long for a socket, in /tmp."""
        inside = self.folder / "run"
        is_plain = re.fullmatch(r"[\w/.-]+", str(inside))
        if is_plain and len(os.fsencode(inside)) <= SOCKET_FOLDER_BYTES:
            return inside
        digest = hashlib.sha256(os.fsencode(self.folder)).hexdigest()[:12]
        outside = Path(tempfile.gettempdir()) / f"chiron-{digest}"
        # TMPDIR may be too long as well.
        is_short = len(os.fsencode(outside)) <= SOCKET_FOLDER_BYTES
        return outside if is_short else Path("/tmp") / outside.name  # noqa: S108  # made private, or refused

    def prepare(self) -> None:
        """Make the folders, and close them and what is in them to everybody else; the folders above stay as they are.

        Raises:
            ConfigurationError: One cannot be made, or belongs to somebody else.
            ChironError: The disk is full.
        """
        for folder in (self.folder, self.logs, self.valkey, self.sockets):
            with _explained(folder):
                make_folder(folder)
            _refuse_foreign_folder(folder)
            folder.chmod(0o700)
        for folder in (self.logs, self.valkey):
            with _explained(folder):
                _close_contents(folder)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Held while a stack starts, so that two `chiron up` at once do not start the same parts.

        Raises:
            Conflict: Another process is starting a stack here.
            ConfigurationError: The folder cannot be written.
            ChironError: The disk is full.
        """
        with _explained(self.folder):
            make_folder(self.folder)
            file = open_private(self.folder / "up.lock")
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Conflict(
                    f"Another `chiron up` is just starting in {self.folder}. Look at it with `chiron status`."
                ) from None
            yield


def make_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing, open to nobody else whatever the umask; leave the others."""
    # `mkdir(parents=True)` would leave the modes of the folders above to the umask.
    for missing in reversed([folder, *folder.parents]):
        if not missing.exists():
            missing.mkdir(mode=0o700, exist_ok=True)


def open_private(file: Path) -> BinaryIO:
    """Open a file for writing, empty; nobody else can read it, whatever the umask and its mode before."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    os.fchmod(descriptor, 0o600)
    return os.fdopen(descriptor, "wb")


def unusable(path: Path, error: OSError, advice: str) -> ChironError:
    """Why a file or folder of the home cannot be used, to be raised; `advice` helps unless the disk is full."""
    if error.errno in FULL:
        return ChironError(
            f"{path} cannot be written, since its disk is full ({error.strerror}). {SPACE_ADVICE}"
        )
    return ConfigurationError(f"{path} cannot be used: {error.strerror or error}. {advice}")


def _close_contents(folder: Path) -> None:
    """Take the rights of others from files that a program made with another umask."""
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() else 0o600)


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unusable(
            folder, error, "Make it writable for you, or set CHIRON_HOME to another folder."
        ) from None


def _refuse_foreign_folder(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in (os.geteuid(), 0):
        raise ConfigurationError(
            f"{folder} belongs to another user. Set CHIRON_HOME to a folder of your own, with a short path."
        )
