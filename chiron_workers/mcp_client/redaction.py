import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qsl, urlsplit

SECRET = re.compile(r"key|token|secret|passw|auth|credential|cookie", re.IGNORECASE)
LOOKS_SECRET = re.compile(r"(?=.*\d)[^\s/\\]{16,}")  # no words, and no path
SECRET_CHARS_MIN = 6  # shorter words are no secrets, and stand in ordinary text
HIDDEN = "***"


def names_secret(name: str) -> bool:
    """Whether a variable or header with this name holds something that nobody else may see."""
    return bool(SECRET.search(name))


def secret_values(table: Mapping[str, str]) -> list[str]:
    """What nobody else may see of headers or an environment: by its name, or by its looks.

    With a header's value goes the key in it, without the word (`Bearer`) before.
    """
    values = [value for name, value in table.items() if names_secret(name) or LOOKS_SECRET.fullmatch(value)]
    passwords = [_password(value) for value in table.values()]
    return [*values, *(value.partition(" ")[2] for value in values), *passwords]


def secret_arguments(arguments: Sequence[str]) -> list[str]:
    """What nobody else may see of a command's arguments: `--key=VALUE`, and what stands behind a `--key`."""
    found = [_password(argument) for argument in arguments]
    for before, argument in zip(("", *arguments), arguments, strict=False):
        name, is_set, value = argument.partition("=")
        if is_set and names_secret(name):
            found.append(value)
        elif before.startswith("-") and "=" not in before and names_secret(before):
            found.append(argument)
    return found


@dataclass(frozen=True, slots=True, repr=False)
class Redaction:
    """The secrets of one server, to be taken out of everything it says."""

    secrets: tuple[str, ...]

    @classmethod
    def of(cls, secrets: Iterable[str], *, url: str = "") -> Self:
        """These secrets, and those that stand in an address."""
        in_url = [value for name, value in parse_qsl(urlsplit(url).query) if names_secret(name)]
        found = {*secrets, *in_url, _password(url)}
        return cls(
            tuple(sorted((one for one in found if len(one) >= SECRET_CHARS_MIN), key=len, reverse=True))
        )

    def __call__(self, text: str) -> str:
        """The text with each secret as `***`."""
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return text


def _password(text: str) -> str:
    if "://" not in text:
        return ""
    try:
        return urlsplit(text).password or ""
    except ValueError:
        return ""
