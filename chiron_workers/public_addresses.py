"""Addresses as others may read them: without the passwords and keys that stand in some."""

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, unquote, unquote_plus

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
USER = re.compile(r"^([a-z][a-z0-9+.-]*://)[^/?#\\]*@", re.IGNORECASE)
SECRET_NAME = re.compile(
    r"(?!(?:next|prev|previous|page|continuation|sync|resume)[_-]?token$)(?:"
    r".*token|(?:.*[_.-])?(?:auth|oauth|bearer|jwt|pass|pin|pw|sig|hmac|sessid|sessionid|session|credentials?)"
    r"|.*(?:password|passwd|passphrase|passcode|pwd|secret|signature|authorization|phpsessid|jsessionid)"
    r"|.*(?:api|access|secret|subscription|private|auth|account|signing)[_-]?key|.*session[_-]?id"
    r"|awsaccesskeyid|googleaccessid|key-pair-id|x-(?:amz|goog|ms)-.*)",
    re.IGNORECASE,
)
# Names that mostly mean something else; what they have is a secret only if it looks like one.
DOUBTFUL_NAME = re.compile(r"key|k|code|sid|ticket|sign|hash|h|t|s|u|id|uid|user|login|access", re.IGNORECASE)
RANDOM = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9._~-]{20,}")
SECRET_VALUE = re.compile(
    r"eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AKIA[A-Z0-9]{12,}"
    r"|AIza[\w-]{30,}|xox[abeprs]-[\w-]{10,}"
)
PATH_PARAMETER = re.compile(r";([^;/=]+)=[^;/]*")
# What a text has as an address; a sentence may put more behind it.
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'`|\\^{}]+", re.IGNORECASE)
AFTER_ADDRESS = ".,;:!?)]*_"
NESTED_MAX = 3  # addresses within addresses


def public_address(url: str, *, depth: int = NESTED_MAX) -> str:
    """The address without a user's name and password, and without keys in its path, query and fragment."""
    # Most addresses hold none of these, and what has no scheme is the name of a work.
    if not any(sign in url for sign in "@?#;") or not SCHEME.match(url):
        return url
    place, fragment_mark, fragment = url.partition("#")
    head, query_mark, query = place.partition("?")
    head = PATH_PARAMETER.sub(_public_parameter, USER.sub(r"\1", head))
    query = _public_query(query, depth) if query else query
    if fragment:
        before, mark, behind = fragment.rpartition("?")
        fragment = before + mark + _public_query(behind, depth)
    query_mark *= bool(query) or not place.partition("?")[2]
    return head + query_mark + query + fragment_mark * bool(fragment or url.endswith("#")) + fragment


def without_secrets(text: str) -> str:
    """A text whose addresses have neither passwords nor keys."""
    return ADDRESS.sub(_public_match, text) if "://" in text else text


def without_secrets_within(value: Any) -> Any:
    """As `without_secrets`, of all texts in a value as JSON has it."""
    match value:
        case str():
            return without_secrets(value)
        case list():
            return [without_secrets_within(entry) for entry in value]
        case dict():
            return {key: without_secrets_within(entry) for key, entry in value.items()}
    return value


def _public_match(match: re.Match[str]) -> str:
    address = match[0].rstrip(AFTER_ADDRESS)
    return public_address(address) + match[0][len(address) :]


def _public_parameter(match: re.Match[str]) -> str:
    return "" if SECRET_NAME.fullmatch(match[1]) else match[0]


def _public_query(query: str, depth: int) -> str:
    separator = "&" if "&" in query or ";" not in query else ";"
    parts = query.split(separator)
    public_parts = [_public_part(part, depth) for part in parts if not _is_secret(part)]
    return query if public_parts == parts else separator.join(public_parts)


def _is_secret(part: str) -> bool:
    name, mark, value = part.partition("=")
    name, value = unquote_plus(name), unquote_plus(value)
    if not mark:
        return bool(SECRET_VALUE.fullmatch(name))
    return (
        SECRET_NAME.fullmatch(name) is not None
        or SECRET_VALUE.fullmatch(value) is not None
        or (DOUBTFUL_NAME.fullmatch(name) is not None and RANDOM.fullmatch(value) is not None)
    )


def _public_part(part: str, depth: int) -> str:
    """A part of a query; an address in it, as redirections have it, loses its secrets too."""
    name, mark, value = part.partition("=")
    plain = unquote(value)
    if depth == 0 or "://" not in plain:
        return part
    public = public_address(plain, depth=depth - 1)
    encode: Callable[[str], str] = (
        (lambda text: text) if plain == value else (lambda text: quote(text, safe=""))
    )
    return part if public == plain else name + mark + encode(public)
