"""The key of the HTTP API and the password of Flower: those that were set, or those that the home keeps."""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from chiron_api.local_stack.home import make_folder, unusable
from chiron_api.local_stack.ports import is_loopback
from chiron_workers.errors import ConfigurationError
from chiron_workers.settings import KEY_CHARS_MIN, Settings

FLOWER_USER = "chiron"
SECRET_BYTES = 32
CHARS_MAX = 1_000  # of a secret that somebody has written into the file


def api_key(settings: Settings) -> str:
    """The key that the HTTP API and MCP over HTTP ask for; empty only where CHIRON_API_WITHOUT_KEY is set.

    Without CHIRON_API_KEY it is the home's own, which the first call makes.

    Raises:
        ConfigurationError: It would be open beyond this machine, the key is too short, the settings contradict each other, or the
            file is not usable.
    """
    key = settings.api_key.get_secret_value()
    if not settings.api_without_key:
        return _long_key(key) if key else _kept_key(api_key_file(settings))
    if key:
        raise ConfigurationError("CHIRON_API_KEY and CHIRON_API_WITHOUT_KEY exclude each other. Unset one.")
    if not is_loopback(settings.api_host):
        raise ConfigurationError(
            f"CHIRON_API_HOST={settings.api_host} is reachable from other machines, so the API needs a key: "
            "unset CHIRON_API_WITHOUT_KEY (and set CHIRON_API_KEY, if it shall be a key of your own), or listen on 127.0.0.1."
        )
    return ""


def key_hint(server: str, settings: Settings) -> str:
    """What requests to a server need, without the key itself: what a terminal shows may be kept in a log."""
    if settings.api_without_key:
        return f"{server} asks for no key: every user of this machine can use it (CHIRON_API_WITHOUT_KEY)."
    return f"{server} asks for `Authorization: Bearer KEY`; `chiron key` prints the key."


def flower_password(settings: Settings) -> str:
    """The password of Flower's user `chiron`. Without CHIRON_FLOWER_PASSWORD it is the home's own, which the first call makes.

    Raises:
        ConfigurationError: Flower cannot compare it, or the file is not usable.
    """
    password = settings.flower_password.get_secret_value()
    if not password.isascii():
        raise ConfigurationError(
            "CHIRON_FLOWER_PASSWORD must be ASCII, since Flower compares no others. Choose another one."
        )
    return password or _kept_secret(flower_password_file(settings))


def api_key_file(settings: Settings) -> Path:
    """Where the home keeps the key of the API."""
    return settings.home / "api.key"


def flower_password_file(settings: Settings) -> Path:
    """Where the home keeps the password of Flower."""
    return settings.home / "flower.password"


def _long_key(key: str) -> str:
    """A key that a person has chosen. Raises ConfigurationError if it is short enough to be guessed."""
    if len(key) < KEY_CHARS_MIN:
        raise ConfigurationError(
            f"CHIRON_API_KEY: a key of your own needs at least {KEY_CHARS_MIN} characters. `openssl rand -hex 24` makes one, and "
            "where it is unset Chiron does."
        )
    return key


def _kept_key(file: Path) -> str:
    """Raises ConfigurationError if the file holds a short one, which a person has written."""
    key = _kept_secret(file)
    if len(key) < KEY_CHARS_MIN:
        raise ConfigurationError(
            f"{file} holds a key of fewer than {KEY_CHARS_MIN} characters. Delete it, and a new one is made at the next start."
        )
    return key


def _kept_secret(file: Path) -> str:
    try:
        return _read(file) or _make(file)
    except OSError as error:
        raise unusable(file, error, "Make it a file that you alone can read, or delete it.") from None


def _make(file: Path) -> str:
    """Write a new secret, or read the one that another process has written meanwhile."""
    make_folder(file.parent)
    fresh = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as target:
            target.write(secrets.token_urlsafe(SECRET_BYTES) + "\n")
        # Unlike a rename it fails where the file is there, and nobody ever sees half of it.
        with contextlib.suppress(FileExistsError):
            os.link(fresh, file)
    finally:
        fresh.unlink(missing_ok=True)
    return _read(file)


def _read(file: Path) -> str:
    """What the file holds; empty where there is none.

    Raises:
        ConfigurationError: Somebody else may know or choose what is in it, or there is nothing in it.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return ""
    with os.fdopen(descriptor, encoding="ascii", errors="replace") as source:
        status = os.fstat(descriptor)
        is_private = stat.S_ISREG(status.st_mode) and not status.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
        if not is_private or status.st_uid not in (os.geteuid(), 0):
            raise ConfigurationError(
                f"{file} is no file that you alone can read and write. Delete it, and a new one is made at the next start."
            )
        secret = source.read(CHARS_MAX + 1).strip()
    if not (secret.isascii() and secret.isprintable()) or not 0 < len(secret) <= CHARS_MAX:
        raise ConfigurationError(
            f"{file} holds no secret of one line. Delete it, and a new one is made at the next start."
        )
    return secret
