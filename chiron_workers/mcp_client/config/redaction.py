import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import parse_qsl, unquote, urlsplit

SECRET = re.compile(
    r"key|token|secret|passw|passphrase|auth|credential|cookie|webhook|(^|[_-])(pat|pwd|dsn)($|[_-])|pass($|[_-])",
    re.IGNORECASE,
)
HARMLESS = re.compile(
    r"(path|home|dir|lang|language|tz|term|shell|user|env|level|mode|region|host|port)$|^lc_"
    r"|^(accept(-.*)?|content-type|user-agent|host|mcp-.*)$",
    re.IGNORECASE,
)
PLAIN = re.compile(r"true|false|https?://[^/@?#\s]+/?", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?[\d.,:]+")
LOOKS_SECRET = re.compile(r"(?=.*\d)[^\s/\\]{16,}")  # no words, and no path
PASSWORD = re.compile(r"://[^\s/?#@:]*:([^\s/?#]+|[^\s@]+)@")  # some write slashes into it
NAMED = re.compile(
    r"(-*[\w.-]+)(?:=|:\s*)(.+)", re.DOTALL
)  # `--key=VALUE`, `KEY=VALUE`, `Authorization: VALUE`
SECRET_CHARS_MIN = 6  # shorter words are no secrets, and stand in ordinary text
HIDDEN = "***"


def names_secret(name: str) -> bool:
    """Whether a variable, header or option with this name holds something that nobody else may see."""
    return bool(SECRET.search(name))


def secrets_of(name: str, value: str) -> list[str]:
    """What nobody else may see of a value: all of it, unless it is plainly harmless, and the passwords in it.

    With a header's value goes the key in it, without the word (`Bearer`) before.
    """
    whole = [] if _is_harmless(name, value) else [value, value.partition(" ")[2]]
    return [*whole, *_passwords(value)]


def secrets_of_all(table: Mapping[str, str]) -> list[str]:
    """The same for each value of an environment or of headers."""
    return [secret for name, value in table.items() for secret in secrets_of(name, value)]


def secret_arguments(arguments: Sequence[str]) -> list[str]:
    """What nobody else may see of a command's arguments: `--key=VALUE`, and what stands behind a `--key`."""
    found = [password for argument in arguments for password in _passwords(argument)]
    for before, argument in zip(("", *arguments), arguments, strict=False):
        named = NAMED.fullmatch(argument)
        if named and names_secret(named[1]):
            found += secrets_of(named[1], named[2])
        elif before.startswith("-") and "=" not in before and names_secret(before):
            found += secrets_of(before, argument)
    return found


def secret_parts(url: str) -> list[str]:
    """What nobody else may see of an address: its password, and what is named or looks like a key in it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url]
    in_query = [
        value for name, value in parse_qsl(parts.query) if names_secret(name) or LOOKS_SECRET.fullmatch(value)
    ]
    return [*_passwords(url), *in_query, *filter(LOOKS_SECRET.fullmatch, parts.path.split("/"))]


@dataclass(frozen=True, slots=True, repr=False)
class Redaction:
    """The secrets of one server, to be taken out of everything it says."""

    secrets: tuple[str, ...]

    @classmethod
    def of(cls, secrets: Iterable[str]) -> Self:
        """These secrets, but for those that are too short to be any."""
        found = {one for one in secrets if len(one) >= SECRET_CHARS_MIN}
        return cls(tuple(sorted(found, key=len, reverse=True)))

    def __call__(self, text: str) -> str:
        """The text with each secret as `***`."""
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return text


def _is_harmless(name: str, value: str) -> bool:
    if PLAIN.fullmatch(value) or _exists(value):
        return True
    if names_secret(name):
        return False
    looks_secret = LOOKS_SECRET.fullmatch(value) is not None
    return NUMBER.fullmatch(value) is not None or (HARMLESS.search(name) is not None and not looks_secret)


def _exists(value: str) -> bool:
    try:
        return "/" in value and Path(value).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return False


def _passwords(text: str) -> list[str]:
    found = PASSWORD.findall(text)
    return [*found, *map(unquote, found)]
