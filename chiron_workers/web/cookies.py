"""The cookies of one download: sites set one and ask for it at the next address, or redirect without end."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from urllib.parse import urlsplit

COOKIES_MAX = 50  # of a host
COOKIE_CHARS_MAX = 4_096
HEADER_CHARS_MAX = 8_192
HEADERS_MAX = 100  # of a response
NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}+")
VALUE = re.compile(r"[\x20-\x3a\x3c-\x7e]*+")


class Cookies:
    """What hosts have set, each sent back to that very host alone; one that is `Secure` goes over https alone."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], str] = {}
        self._secure_names = set[tuple[str, str]]()

    def store(self, url: str, headers: Iterable[str]) -> None:
        """Take the cookies of the `Set-Cookie` headers of a response. What is no cookie is passed over."""
        host = _host(url)
        for header in islice(headers, HEADERS_MAX):
            pair, *words = header[:COOKIE_CHARS_MAX].split(";")
            name, separator, value = (part.strip() for part in pair.partition("="))
            if not separator or not NAME.fullmatch(name) or not VALUE.fullmatch(value):
                continue
            key = (host, name)
            attributes = {
                attribute.strip().lower(): content.strip()
                for attribute, _, content in (part.partition("=") for part in words)
            }
            if _is_ended(attributes):
                self._values.pop(key, None)
            elif key in self._values or self._count(host) < COOKIES_MAX:
                self._values[key] = value
                (self._secure_names.add if "secure" in attributes else self._secure_names.discard)(key)

    def header(self, url: str) -> dict[str, str]:
        """The header `Cookie` for a request; no header where the host has set none."""
        host, is_safe = _host(url), urlsplit(url).scheme == "https"
        pairs = [
            f"{key[1]}={value}"
            for key, value in self._values.items()
            if key[0] == host and (is_safe or key not in self._secure_names)
        ]
        words = "; ".join(pairs)
        return {"Cookie": words} if words and len(words) <= HEADER_CHARS_MAX else {}

    def _count(self, host: str) -> int:
        return sum(key[0] == host for key in self._values)


def _host(url: str) -> str:
    return (urlsplit(url).hostname or "").rstrip(".")


def _is_ended(attributes: dict[str, str]) -> bool:
    """Whether a cookie is taken back: its age says so, or, without one, its date."""
    if re.fullmatch(r"-?\d{1,20}", age := attributes.get("max-age", "")):
        return int(age) <= 0
    try:
        end = parsedate_to_datetime(attributes.get("expires", ""))
    except (ValueError, OverflowError):
        return False
    return (end if end.tzinfo else end.replace(tzinfo=UTC)) <= datetime.now(UTC)
