"""The cookies of one download: sites set one and ask for it at the next address, or redirect without end."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

COOKIES_MAX = 50  # of a host
COOKIE_CHARS_MAX = 4_096
HEADER_CHARS_MAX = 8_192
COOKIE = re.compile(
    r"\s*([!#$%&'*+\-.^_`"
    r"|~0-9A-Za-z]{1,200})\s*=\s*([\x21-\x3a\x3c-\x7e](?:[\x20-\x3a\x3c-\x7e]*[\x21-\x3a\x3c-\x7e])?|)\s*"
)
ENDED = re.compile(r"max-age\s*=\s*(?:-\d+|0+)\s*", re.IGNORECASE)


class Cookies:
    """What hosts have set, each sent back to that very host alone; one that is `Secure` goes over https alone."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], str] = {}
        self._secure_names = set[tuple[str, str]]()

    def store(self, url: str, headers: Iterable[str]) -> None:
        """Take the cookies of the `Set-Cookie` headers of a response. What is no cookie is passed over."""
        host = _host(url)
        for header in headers:
            pair, *attributes = header[:COOKIE_CHARS_MAX].split(";")
            cookie = COOKIE.fullmatch(pair)
            if cookie is None:
                continue
            key = (host, cookie[1])
            if any(map(ENDED.fullmatch, map(str.strip, attributes))):
                self._values.pop(key, None)
            elif key in self._values or self._count(host) < COOKIES_MAX:
                self._values[key] = cookie[2]
                is_secure = any(attribute.strip().lower() == "secure" for attribute in attributes)
                (self._secure_names.add if is_secure else self._secure_names.discard)(key)

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
