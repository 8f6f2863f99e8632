"""Pages that send their reader on by `<meta http-equiv="refresh">`, as redirects do."""

import re
from html import unescape
from urllib.parse import urldefrag, urljoin

HEAD_BYTES = 32 * 1024  # in which the element is looked for
DELAY_S_MAX = 5  # Who waits longer may read the page first.
# Nobody who reads the page runs these, and what they hold is not the page's.
UNREAD = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|noscript|template|textarea|title|svg)\b.*?(?:</\1\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
BASE = re.compile(r"<base\b([^<>]{0,2000})>", re.IGNORECASE)
META = re.compile(r"<meta\b([^<>]{0,2000})>", re.IGNORECASE)
ATTRIBUTE = re.compile(
    r"(?<![\w-])(http-equiv|content|href)\s{0,20}=\s{0,20}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))",
    re.IGNORECASE,
)
REFRESH = re.compile(r"(\d{1,6})(?:\.\d*)?\s*+[;,]?+\s*+(?:url\s*=\s*+)?+(\S.*)", re.IGNORECASE | re.DOTALL)


def refresh_target(body: bytes, url: str, *, may_repeat: bool = False) -> str:
    """The address that a page sends its reader to at once; empty where it does not.

    Args:
        may_repeat: Also where that is the page itself, as it has set a cookie that it wants to see.
    """
    head = body[:HEAD_BYTES]
    if b"refresh" not in head.lower():
        return ""
    text = UNREAD.sub(" ", head.decode("utf-8", errors="replace"))
    bases = (_attributes(element[1]).get("href") for element in BASE.finditer(text))
    base = urljoin(url, unescape(next(filter(None, bases), "")).strip())
    for element in META.finditer(text):
        attributes = _attributes(element[1])
        if attributes.get("http-equiv", "").strip().lower() == "refresh":
            target = _target(attributes.get("content", ""), base)
            return target if may_repeat or urldefrag(target).url != urldefrag(url).url else ""
    return ""


def _attributes(words: str) -> dict[str, str]:
    return {match[1].lower(): match[2] or match[3] or match[4] or "" for match in ATTRIBUTE.finditer(words)}


def _target(content: str, url: str) -> str:
    match = REFRESH.fullmatch(unescape(content).strip())
    if match is None or int(match[1]) > DELAY_S_MAX:
        return ""
    address = match[2].strip("\"'").strip()
    target = urljoin(url, address) if address else ""
    return target if target.lower().startswith(("http://", "https://")) else ""
