import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import parse_qsl, unquote, urlsplit

SECRET_NAME = re.compile(
    r"key|token|secret|passw|passphrase|auth|credential|cookie|webhook|(^|[_-])(pat|pwd|dsn)($|[_-])|pass($|[_-])",
    re.IGNORECASE,
)
HARMLESS_NAME = re.compile(
    r"(path|home|dir|lang|language|tz|term|shell|user|env|level|mode|region|host|port)$|^lc_"
    r"|^(accept(-.*)?|content-type|user-agent|host|mcp-.*)$",
    re.IGNORECASE,
)
HARMLESS_VALUE = re.compile(r"true|false|https?://[^/@?#\s]+/?", re.IGNORECASE)
NUMBER = re.compile(r"[-+]?[\d.,:]+")
KEY_LIKE = re.compile(r"(?=.*\d)[^\s/\\]{16,}")  # one long word with a digit, and no path
PASSWORD = re.compile(r"://[^\s/?#@:]*:([^\s/?#]+|[^\s@]+)@")  # passwords may contain slashes
# `--key=VALUE`, `KEY=VALUE`, `Authorization: VALUE`
ASSIGNMENT = re.compile(r"(-*[\w.-]+)(?:=|:\s*)(.+)", re.DOTALL)
SECRET_CHARS_MIN = 6  # shorter words are no secrets, and occur in ordinary text
MASK = "***"


def is_secret_name(name: str) -> bool:
    """Whether a variable, header or option of this name holds a secret."""
    return bool(SECRET_NAME.search(name))


def secrets_of(name: str, value: str) -> list[str]:
    """The secrets in a value: all of it, unless it is plainly harmless, and the passwords in it.

    The key in a header's value is a secret by itself, too, without the word before it (`Bearer`).
    """
    whole = [] if _is_harmless(name, value) else [value, value.partition(" ")[2]]
    return [*whole, *_passwords(value)]


def secret_arguments(arguments: Sequence[str]) -> list[str]:
    """The secrets in a command's arguments: `--key=VALUE`, and the argument after a `--key`."""
    secrets = [password for argument in arguments for password in _passwords(argument)]
    for previous, argument in zip(("", *arguments), arguments, strict=False):
        match = ASSIGNMENT.fullmatch(argument)
        if match and is_secret_name(match[1]):
            secrets += secrets_of(match[1], match[2])
        elif previous.startswith("-") and "=" not in previous and is_secret_name(previous):
            secrets += secrets_of(previous, argument)
    return secrets


def secret_parts(url: str) -> list[str]:
    """The secrets in an address: its password, and parts that are named or look like a key."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url]
    in_query = [
        value for name, value in parse_qsl(parts.query) if is_secret_name(name) or KEY_LIKE.fullmatch(value)
    ]
    return [*_passwords(url), *in_query, *filter(KEY_LIKE.fullmatch, parts.path.split("/"))]


@dataclass(frozen=True, slots=True, repr=False)
class Redaction:
    """Masks the secrets of one server in everything it says."""

    secrets: tuple[str, ...]

    @classmethod
    def of(cls, secrets: Iterable[str]) -> Self:
        """A redaction of these secrets; texts of less than SECRET_CHARS_MIN are none."""
        texts = {secret for secret in secrets if len(secret) >= SECRET_CHARS_MIN}
        return cls(tuple(sorted(texts, key=len, reverse=True)))

    def __call__(self, text: str) -> str:
        """The text with each secret as `***`."""
        for secret in self.secrets:
            text = text.replace(secret, MASK)
        return text


def _is_harmless(name: str, value: str) -> bool:
    if HARMLESS_VALUE.fullmatch(value) or _is_existing_path(value):
        return True
    if is_secret_name(name):
        return False
    is_key_like = KEY_LIKE.fullmatch(value) is not None
    return NUMBER.fullmatch(value) is not None or (HARMLESS_NAME.search(name) is not None and not is_key_like)


def _is_existing_path(value: str) -> bool:
    try:
        return "/" in value and Path(value).expanduser().exists()
    except (OSError, RuntimeError, ValueError):
        return False


def _passwords(text: str) -> list[str]:
    passwords = PASSWORD.findall(text)
    return [*passwords, *map(unquote, passwords)]
