"""Addresses as others may read them: without the passwords and keys that stand in some."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import SplitResult, quote, unquote, unquote_plus, urlsplit

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
USER = re.compile(r"^((?:[a-z][a-z0-9+.-]*:)?//|(?:https?|ftp|wss?):[/\\]*)[^/?#\\]*@", re.IGNORECASE)
SECRET_NAME = re.compile(
    r"(?!(?:next|prev|previous|page|continuation|sync|resume)[_-]?token$)(?:"
    r".*token|(?:.*[_.-])?(?:auth|oauth|bearer|jwt|pass|pw|sig|hmac|sessid|sessionid|credentials?)"
    r"|.*(?:password|passwd|passphrase|passcode|pwd|secret|signature|authorization|phpsessid|jsessionid)"
    r"|.*(?:api|access|secret|subscription|private|auth|account|signing)[_-]?key|.*session[_-]?id"
    r"|awsaccesskeyid|googleaccessid|key-pair-id|x-(?:amz|goog|ms)-.*)",
    re.IGNORECASE,
)
# Names that often mean something else, each with the values that are secrets under it: ?session=2024 is a year of a parliament.
DOUBTFUL_NAMES = (
    (re.compile(r"(?:.*[_.-])?pin", re.IGNORECASE), re.compile(r".{4,}", re.DOTALL)),
    (re.compile(r"(?:.*[_.-])?session", re.IGNORECASE), re.compile(r"(?=[^0-9]*[0-9])[\w.~+/=:%-]{16,}")),
    (
        re.compile(r"(?:.*[_.-])?key", re.IGNORECASE),
        re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[\w.~+/=-]{12,}"),
    ),
    (
        re.compile(r"k|code|sid|ticket|sign|hash|h|t|s|u|id|uid|user|login|access", re.IGNORECASE),
        re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9._~-]{20,}"),
    ),
)
SECRET_VALUE = re.compile(
    r"(?<![\w-])(?:eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}"
    r"|AKIA[A-Z0-9]{12,}|AIza[\w-]{30,}|xox[abeprs]-[\w-]{10,})"
)
# Services that have a key in the path; what comes first stays.
PATH_SECRET = re.compile(
    r"(//api\.telegram\.org(?::\d+)?/(?:file/)?bot)[^/]+"
    r"|(//hooks\.slack(?:-gov)?\.com(?::\d+)?/(?:services|workflows|triggers)/).+"
    r"|(//(?:\w+\.)?discord(?:app)?\.com(?::\d+)?/api/(?:v\d+/)?webhooks/\d+/)[^/]+"
    r"|(//(?:[\w-]+\.webhook|outlook)\.office(?:365)?\.com/webhook(?:b2)?/).+"
    r"|(//hooks\.zapier\.com/hooks/(?:catch|standard)/).+"
    r"|(//maker\.ifttt\.com/(?:trigger/[^/]+/(?:json/)?with/key|use)/)[^/]+"
    r"|(//[\w.-]+\.(?:infura\.io|alchemy\.com)/(?:ws/)?v\d+/)[^/]+"
    r"|(//calendar\.google\.com/calendar/ical/[^/]+/private-)[^/]+",
    re.IGNORECASE,
)
PATH_PARAMETER = re.compile(r";([^;/]+)")
QUERY_MARK = re.compile(r"([&;])")
NAME_MARK = re.compile(r"[\[\]]+")  # password[], user[password]
# What a text has as an address; a sentence may put more behind it. A password may hold what else ends an address.
ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,20}:|(?<![\w:/])(?=//[^\s/?#<>\"]{1,300}@))//(?:[^\s/?#@:<>\"'`|\\^{}]*:[^\s/?#<>\"]{1,300}@)?"
    r"[^\s<>\"'`|\\^{}]+",
    re.IGNORECASE,
)
AFTER_ADDRESS = ".,;:!?)]*_"
NESTED_MAX = 3  # addresses within addresses
ADDRESSES_MAX = 1_024  # whose public forms are kept: a report names each several times, one after the other
ENCODED_MAX = 8  # how often a value is encoded


def url_parts(url: str) -> SplitResult:
    """The parts of an address; all are empty if it cannot be parsed."""
    try:
        parts = urlsplit(url)
        _ = parts.hostname
    except ValueError:
        return urlsplit("")
    return parts


@lru_cache(maxsize=ADDRESSES_MAX)
def public_address(url: str, *, depth: int = NESTED_MAX) -> str:
    """The address without a user's name and password, and without keys in its path, query and fragment."""
    # What has no scheme is the name of a work.
    if not SCHEME.match(url):
        return url
    place, fragment_mark, fragment = url.partition("#")
    head, query_mark, query = place.partition("?")
    head = _public_path(USER.sub(r"\1", head))
    query = _public_query(query, depth) if query else query
    if fragment:
        fragment = _public_value(fragment, depth)
    query_mark *= bool(query) or not place.partition("?")[2]
    return head + query_mark + query + fragment_mark * bool(fragment or url.endswith("#")) + fragment


def without_secrets(text: str) -> str:
    """A text whose addresses have neither passwords nor keys."""
    return ADDRESS.sub(_public_match, text) if "//" in text else text


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


def _public_match(match: re.Match[str], *, depth: int = NESTED_MAX) -> str:
    address = match[0].rstrip(AFTER_ADDRESS)
    return public_address(address, depth=depth) + match[0][len(address) :]


def _public_path(head: str) -> str:
    head = PATH_PARAMETER.sub(lambda match: "" if _is_secret(match[1]) else match[0], head)
    head = PATH_SECRET.sub(lambda match: next(filter(None, match.groups())), head)
    return SECRET_VALUE.sub("", head)


def _public_query(query: str, depth: int) -> str:
    marks_and_parts = ["", *QUERY_MARK.split(query)]
    pairs = zip(marks_and_parts[::2], marks_and_parts[1::2], strict=True)
    public_pairs = [(mark, _public_part(part, depth)) for mark, part in pairs if not _is_secret(part)]
    if not public_pairs:
        return ""
    return public_pairs[0][1] + "".join(mark + part for mark, part in public_pairs[1:])


def _is_secret(part: str) -> bool:
    name, mark, value = part.partition("=")
    (name, rounds), (value, _) = _decode(name, unquote_plus), _decode(value, unquote_plus)
    if rounds == ENCODED_MAX:
        return True
    if not mark:
        name, mark, value = name.partition("=")
    if SECRET_VALUE.search(value if mark else name):
        return True
    steps = [step.strip() for step in NAME_MARK.split(name) if step.strip()]
    if not mark or not steps:
        return False
    return any(map(SECRET_NAME.fullmatch, steps)) or any(
        doubtful_name.fullmatch(steps[-1]) and secret.fullmatch(value)
        for doubtful_name, secret in DOUBTFUL_NAMES
    )


def _public_part(part: str, depth: int) -> str:
    """A part of a query; an address in it, as redirections have it, loses its secrets too."""
    name, mark, value = part.partition("=")
    if "//" in name or not mark:
        name, mark, value = "", "", part
    plain, rounds = _decode(value, unquote)
    if rounds < ENCODED_MAX and "//" not in plain and "=" not in plain:
        return part
    # What is nested or encoded deeper is not read, and so left out.
    public = _public_value(plain, depth - 1) if depth and rounds < ENCODED_MAX else ""
    if public == plain:
        return part
    for _ in range(rounds):
        public = quote(public, safe="")
    return name + mark + public


def _public_value(plain: str, depth: int) -> str:
    """A value or fragment: an address, words with addresses, a path with a query, or a query."""
    if SCHEME.match(plain):
        return public_address(plain, depth=depth)
    if "//" in plain:
        return ADDRESS.sub(lambda match: _public_match(match, depth=depth), plain)
    before, mark, query = plain.rpartition("?")
    return before + mark + _public_query(query, depth)


def _decode(text: str, decode: Callable[[str], str]) -> tuple[str, int]:
    """The text decoded until it stays the same, and how often that was; at most `ENCODED_MAX` times."""
    for rounds in range(ENCODED_MAX):
        plain = decode(text)
        if plain == text:
            return text, rounds
        text, decode = plain, unquote  # a plus that was encoded is a plus
    return text, ENCODED_MAX
