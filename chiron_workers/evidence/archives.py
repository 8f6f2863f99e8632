"""The address of a page that an archive, a translator or a reading service shows under an address of its own."""

import re
from functools import lru_cache
from urllib.parse import parse_qsl, unquote, urlsplit

NESTED_MAX = 4  # an archive may hold what a translator showed
_STAMP = re.compile(
    r"/?(?:\d{4,14}(?:[a-z]{2}_)?\*?|newest|latest|oldest|timegate|\*|all|mp_)", re.IGNORECASE
)
_HOSTS = """
    archive.is archive.ph archive.today archive.li archive.vn archive.md archive.fo archive.org web.archive.org
    wayback.archive.org wayback.archive-it.org arquivo.pt webarchive.nationalarchives.gov.uk webarchive.org.uk
    www.webarchive.org.uk webarchive.parliament.uk webarchive.loc.gov swap.stanford.edu www.webcitation.org webcitation.org
    wayback.vefsafn.is web.archive.bibalex.org timetravel.mementoweb.org
    12ft.io r.jina.ai removepaywall.com www.removepaywall.com freedium.cfd outline.com
    translate.google.com translate.googleusercontent.com webcache.googleusercontent.com translate.yandex.com
    translate.yandex.ru www.translatoruser-int.com www.microsofttranslator.com www.translatetheweb.com
    l.facebook.com lm.facebook.com out.reddit.com
"""
_ARCHIVES = frozenset(_HOSTS.split())
_PARAMETERS = ("url", "u", "a", "q")
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
        return _parameter(parts.query) if parts.path in ("/url", "/translate") else ""
    if host == "megalodon.jp" and (match := _MEGALODON.fullmatch(parts.path)):
        return _as_address(match[1])
    if host not in _ARCHIVES:
        return ""
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    return _after_stamp(path) or _parameter(parts.query)


def _after_stamp(path: str) -> str:
    """What stands behind the steps of an archive's own in a path."""
    address = re.search(r"/(https?:/{1,2}[^/\s].*)", path, re.IGNORECASE | re.DOTALL)
    if address:
        return _as_address(address[1])
    quoted_address = re.search(r"/(https?%3a.*)", path, re.IGNORECASE | re.DOTALL)
    if quoted_address:
        return _as_address(unquote(quoted_address[1]))
    steps = path.lstrip("/").split("/")
    if steps[0] in ("web", "wayback", "all", "ukgwa", "archive", "was", "proxy"):
        steps = steps[1:]
    if len(steps) > 1 and _STAMP.fullmatch(steps[0]):
        steps = steps[1:]
    address_text = "/".join(steps)
    return (
        _as_address(address_text)
        if re.match(r"[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:[/:?]|$)", address_text)
        else ""
    )


def _parameter(query: str) -> str:
    """The address that a parameter names."""
    values = dict(parse_qsl(query))
    for name in _PARAMETERS:
        value = values.get(name, "")
        if match := _CACHE.match(value):
            return _as_address(match[1].split(" ")[0].split("+")[0])
        if value.lower().startswith(("http://", "https://")):
            return value
    return ""


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
