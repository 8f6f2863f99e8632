import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qsl, urlsplit

SECRET = re.compile(r"key|token|secret|passw|auth|credential|cookie", re.IGNORECASE)
SECRET_CHARS_MIN = 6  # shorter words are no secrets, and stand in ordinary text
HIDDEN = "***"


def names_secret(name: str) -> bool:
    """Whether a variable or header with this name holds something that nobody else may see."""
    return bool(SECRET.search(name))


def secret_headers(headers: Mapping[str, str]) -> list[str]:
    """What of the headers nobody else may see: values, and keys without the word (`Bearer`) before them."""
    values = [value for name, value in headers.items() if names_secret(name)]
    return values + [value.partition(" ")[2] for value in values]


@dataclass(frozen=True, slots=True, repr=False)
class Redaction:
    """The secrets of one server, to be taken out of everything it says."""

    secrets: tuple[str, ...]

    @classmethod
    def of(cls, secrets: Iterable[str], *, url: str = "") -> Self:
        """These secrets, and those that stand in an address."""
        parts = urlsplit(url)
        in_url = [value for name, value in parse_qsl(parts.query) if names_secret(name)]
        found = {*secrets, *in_url, parts.password or ""}
        return cls(
            tuple(sorted((one for one in found if len(one) >= SECRET_CHARS_MIN), key=len, reverse=True))
        )

    def __call__(self, text: str) -> str:
        """The text with each secret as `***`."""
        for secret in self.secrets:
            text = text.replace(secret, HIDDEN)
        return text
