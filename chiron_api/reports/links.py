"""Which addresses of sources become links, and in what form: what a source is called is a stranger's text."""

import re
from urllib.parse import quote, urlsplit

# What an address may hold as it is (RFC 3986); % stays where it encodes a letter, since most of what is stored is
# encoded already.
SAFE_CHARACTERS = "%:/?#[]@!$&'()*+,;=-._~"
# A page on the web with nothing to encode and no port, as most are: it is a link as it stands.
PLAIN_PAGE = re.compile(r"https?://[A-Za-z0-9.-]+(?:[/?#][A-Za-z0-9/?#@!$&'()*+,;=._~:-]*)?")
BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def link(url: str) -> str | None:
    """The address as a link may have it, in ASCII, or None where a link would be unsafe or lead nowhere.

    Pages on the web, and files of this machine: `file://server/...` would make Windows send a password to that server.
    """
    if PLAIN_PAGE.fullmatch(url):
        return url
    if min(url, default="") <= " ":
        return None
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port  # raise where they cannot be read
    except ValueError:
        return None
    is_page = parts.scheme in {"http", "https"} and host and "\\" not in parts.netloc
    is_file = parts.scheme == "file" and parts.netloc in {"", "localhost"} and not parts.path.startswith("//")
    if not (is_page or is_file):
        return None
    return BARE_PERCENT.sub("%25", quote(url.encode("utf-8", "replace"), safe=SAFE_CHARACTERS))
