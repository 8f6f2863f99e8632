"""Names of files that Windows, macOS and Linux take, and Obsidian in links."""

import re
import unicodedata

# What Windows refuses, what Obsidian reads in a link, and what no eye sees.
REFUSED_CHARACTERS = re.compile(
    r'[<>:"/\\|?*#^\[\]%\0-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+'
)
RESERVED_NAMES = re.compile(
    r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?", re.IGNORECASE
)
NAME_BYTES_MAX = 100  # leaves room in the 255 of a name and the 260 of a path on Windows
ROOM_BYTES = 12  # for what tells two alike apart


def file_name(title: str, names: set[str]) -> str:
    """A name, without an ending, that none of `names` equals where case and accents' forms do not count; it joins them."""
    plain = unicodedata.normalize("NFC", REFUSED_CHARACTERS.sub(" ", title))
    start = " ".join(plain.split()).encode()[: NAME_BYTES_MAX - ROOM_BYTES]
    name = start.decode(errors="ignore").strip(" .") or "untitled"
    if RESERVED_NAMES.fullmatch(name):
        name = f"{name[:3]}_{name[3:]}"
    candidate, n = name, 1
    while _key(candidate) in names:
        n += 1
        candidate = f"{name} ({n})"
    names.add(_key(candidate))
    return candidate


def _key(name: str) -> str:
    return unicodedata.normalize("NFKD", name.casefold())
