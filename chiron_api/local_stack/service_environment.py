"""Which variables services get: what a program needs to run at all, and no key of a provider, a server of tools or a mail server.

As a program it runs another one, whose command line follows, in its place. What is in the arguments every user of the machine
can read, so only the names of variables are here, and no value in a command line.
"""

import os
import sys
from collections.abc import Mapping

NAMES = frozenset(
    (
        "CHIRON_STACK_HOME", "GLIBC_TUNABLES", "HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LD_PRELOAD", "LOGNAME", "PATH",
        "SHELL", "TMPDIR", "TZ", "TZDIR", "USER",
    )
)  # fmt: skip
# Of the locale, of supervisord (by whose names `chiron status` knows a part), of C programs' memory, of Python and of macOS.
PREFIXES = ("LC_", "SUPERVISOR_", "MALLOC_", "PYTHON", "DYLD_")
# Flower reads the broker, and by its own variables what it shows; a broker over TLS may have an authority of its own.
FLOWER_NAMES = frozenset(
    (
        "CHIRON_HOME", "CHIRON_REDIS_URL", "CHIRON_BROKER_URL", "CHIRON_FLOWER_HOST", "CHIRON_FLOWER_PORT",
        "CHIRON_FLOWER_PASSWORD", "CHIRON_LOG_LEVEL", "CHIRON_TRUSTED_PROXIES", "SSL_CERT_FILE", "SSL_CERT_DIR",
    )
)  # fmt: skip
FLOWER_PREFIXES = ("FLOWER_",)


def service_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What Postgres and Valkey get of an environment."""
    return _selected(environment, NAMES, PREFIXES)


def flower_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What Flower gets of an environment."""
    return _selected(environment, NAMES | FLOWER_NAMES, PREFIXES + FLOWER_PREFIXES)


def command_without_keys(command: list[str]) -> list[str]:
    """The command line that runs a command with the environment of a service."""
    return [sys.executable, "-P", "-m", "chiron_api.local_stack.service_environment", *command]


def _selected(
    environment: Mapping[str, str], names: frozenset[str], prefixes: tuple[str, ...]
) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name in names or name.startswith(prefixes)}


if __name__ == "__main__":
    os.execve(sys.argv[1], sys.argv[1:], service_environment(os.environ))  # noqa: S606  # the command of this module's caller
