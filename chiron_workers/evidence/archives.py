"""The address of a page that an archive, a translator or a reading service shows under an address of its own."""

import re
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urlsplit

NESTED_MAX = 4  # an archive may hold what a translator showed
_STAMP = r"(?:\d{1,14}(?:[a-z]{2}_)?\*?|\d{4}\.\d\d\.\d\d-\d{6}|newest|latest|oldest|timegate|\*|mp_)"
# What stands before the stamp in the paths of each archive.
_ARCHIVES = {
    "archive.is archive.ph archive.today archive.li archive.vn archive.md archive.fo webarchive.parliament.uk": "",
    "web.archive.org wayback.archive.org": "(?:/web)?",
    "archive.org web.archive.bibalex.org": "/web",
    "wayback.archive-it.org": r"(?:/(?:\d{1,9}|all|org-\d{1,9}))?",
    "arquivo.pt": "/(?:wayback|noFrame/replay)",
    "webarchive.nationalarchives.gov.uk": "(?:/ukgwa)?",
    "webarchive.org.uk www.webarchive.org.uk": "/wayback(?:/en)?(?:/archive)?",
    "webarchive.loc.gov": "(?:/all)?",
    "swap.stanford.edu": "(?:/was)?",
    "wayback.vefsafn.is": "/wayback",
    "timetravel.mementoweb.org": "/(?:memento|list|timegate)",
}
_STAMPED = {
    host: re.compile(rf"{steps}/(?:(?P<stamp>{_STAMP})/)?", re.IGNORECASE)
    for hosts, steps in _ARCHIVES.items()
    for host in hosts.split()
}
_READERS = frozenset(
    ["12ft.io", "r.jina.ai", "removepaywall.com", "www.removepaywall.com", "freedium.cfd", "outline.com"]
)
# The parameter that names the page, and the paths where it does. Elsewhere anybody may put one behind the address of any page.
_PARAMETERS = {
    "translate.google.com translate.googleusercontent.com": ("u", ".*"),
    "translate.yandex.com translate.yandex.ru": ("url", ".*"),
    "www.translatoruser-int.com www.microsofttranslator.com www.translatetheweb.com": ("a", ".*"),
    "webcache.googleusercontent.com": ("q", "/search"),
    "webcitation.org www.webcitation.org": ("url", "/query(?:\\.php)?"),
    "12ft.io": ("q", "/(?:api/)?proxy"),
    "removepaywall.com www.removepaywall.com": ("url", "/search"),
    "l.facebook.com lm.facebook.com": ("u", "/l\\.php"),
    "out.reddit.com": ("url", ".*"),
}
_PARAMETER = {host: form for hosts, form in _PARAMETERS.items() for host in hosts.split()}
_WITH_SCHEME = re.compile(r"https?:/{1,2}[^/\s]", re.IGNORECASE)
_ENCODED = re.compile(r"https?(?:%3a|:)(?:%2f|/){1,2}[^/\s]", re.IGNORECASE)
_WITHOUT_SCHEME = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:[/:]|$)", re.IGNORECASE)
_STEP_BACK = re.compile(r"/(?:\.|%2e){2}(?:/|$)", re.IGNORECASE)
_CACHE = re.compile(r"cache:(?:[\w-]{8,}:)?(.+)", re.DOTALL)
_GOOGLE = re.compile(r"(?:www\.)?google\.(?:[a-z]{2,3}|com?\.[a-z]{2})")
_AMP_STEPS = re.compile(r"(?:/[cviar])*/(?P<secure>s/)?(?P<address>[^/]+\.[^/]+/.*)", re.DOTALL)
_MEGALODON = re.compile(r"/(?:ref/)?[\d-]{10,25}/(.+)", re.DOTALL)
_TRANSLATOR = ".translate.goog"
_AMP = ".cdn.ampproject.org"


@lru_cache(maxsize=10_000)
def original_address(url: str) -> str:
    """The address of the page that an address shows a copy or a translation of; the address itself where it is no copy.

    By the address alone: what an archive keeps under a number cannot be told.
    """
    for _ in range(NESTED_MAX):
        inner = _within(url)
        if not inner or inner == url:
            break
        url = inner
    return url


def _within(url: str) -> str:
    if not url.lower().startswith(("http://", "https://")):
        return ""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""
    if host.endswith(_TRANSLATOR):
        return _translated(host, parts.path, parts.query)
    if host.endswith(_AMP):
        return _amp(parts.path)
    if _GOOGLE.fullmatch(host):
        if parts.path.startswith("/amp/"):
            return _amp(parts.path.removeprefix("/amp"))
        names = {"/url": ("q", "url"), "/translate": ("u",)}.get(parts.path, ())
        return _parameter(parts.query, *names)
    if host == "megalodon.jp" and (match := _MEGALODON.fullmatch(parts.path)):
        return _as_address(match[1])
    if host in _PARAMETER:
        name, paths = _PARAMETER[host]
        if re.fullmatch(paths, parts.path, re.DOTALL):
            return _parameter(parts.query, name)
    query = f"?{parts.query}" if parts.query else ""
    if host in _READERS:
        return _leading_address(parts.path[1:], query, may_lack_scheme=True)
    if host in _STAMPED and (match := _STAMPED[host].match(parts.path)):
        return _leading_address(parts.path[match.end() :], query, may_lack_scheme=bool(match["stamp"]))
    return ""


def _leading_address(path: str, query: str, *, may_lack_scheme: bool) -> str:
    """The address that the rest of a path is, with its query; empty where it is none.

    One that stands farther behind is a part of another's, and one that steps back is of another page.
    """
    if _STEP_BACK.search(f"/{path}"):
        return ""
    if _WITH_SCHEME.match(path):
        return _as_address(path + query)
    if _ENCODED.match(path):
        return _as_address(unquote(path) + query)
    return _as_address(path + query) if may_lack_scheme and _WITHOUT_SCHEME.match(path) else ""


def _parameter(query: str, *names: str) -> str:
    """The address that a parameter names; empty where it is there twice, or beside the number of another page."""
    items = parse_qsl(query)
    values = {value for name, value in items if name in names}
    if len(values) != 1 or any(name == "id" for name, _ in items):
        return ""
    value = values.pop()
    if match := _CACHE.match(value):
        return _as_address(match[1].split(" ")[0].split("+")[0])
    return value if value.lower().startswith(("http://", "https://")) else ""


def _translated(host: str, path: str, query: str) -> str:
    """Google writes a dot as a hyphen and a hyphen as two; its own parameters begin with `_x_tr_`."""
    name = host.removesuffix(_TRANSLATOR).replace("--", "\0").replace("-", ".").replace("\0", "-")
    parameters = "&".join(item for item in query.split("&") if item and not item.startswith("_x_tr_"))
    return f"https://{name}{path}" + (f"?{parameters}" if parameters else "")


def _amp(path: str) -> str:
    match = _AMP_STEPS.fullmatch(path if path.count("/") > 1 else path + "/")
    if match is None:
        return ""
    return f"{'https' if match['secure'] else 'http'}://{match['address']}"


def _as_address(text: str) -> str:
    scheme = re.match(r"(https?):/{1,2}(?=[^/])", text, re.IGNORECASE)
    return f"{scheme[1].lower()}://{text[scheme.end() :]}" if scheme else f"http://{text}"
