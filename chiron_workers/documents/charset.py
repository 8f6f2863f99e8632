import codecs
import re

from charset_normalizer import from_bytes

from chiron_workers.documents.document import UnreadableError

SNIFFED_BYTES = 2048
UNPRINTABLE_SHARE_MAX = 0.02
MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Python's codecs hold more than charsets: decoding punycode, say, takes quadratic time.
CHARSET = re.compile(
    r"(utf|iso|latin|windows|cp|gb|big5|euc|shift|s?jis|koi8|mac|ascii|us-ascii|tis|hz)[\w:-]*", re.IGNORECASE
)
WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
DECLARED = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w:-]{2,40})", re.IGNORECASE)


class UndecodableError(UnreadableError):
    """The bytes are no text, or no charset fits them."""


def decode(data: bytes, *, declared_charset: str = "") -> str:
    """Bytes as text: by their byte order mark, else as declared, else UTF-8, else the charset that fits best.

    Args:
        declared: The charset that came with the bytes, which is often wrong.

    Raises:
        UndecodableError: The bytes are no text.
    """
    text = _marked(data) or _plain(data, declared_charset)
    if _control(text) > UNPRINTABLE_SHARE_MAX * min(len(text), SNIFFED_BYTES):
        raise UndecodableError("it is binary, not text")
    return text


def html_charset(data: bytes) -> str:
    """The charset that a page names in its head, or nothing."""
    found = DECLARED.search(data[:SNIFFED_BYTES])
    return found.group(1).decode("ascii") if found else ""


def _marked(data: bytes) -> str:
    for mark, charset in MARKS.items():
        if data.startswith(mark):
            return data.decode(charset, errors="replace").removeprefix("\ufeff")
    return ""


def _wide(data: bytes) -> str:
    """Text of two or four bytes a letter without a mark; in the wrong order its spaces and signs are letters."""
    found = [text for charset in WIDE if (text := _whole(data, charset))]
    if not found:
        raise UndecodableError("it is binary, not text")
    return max(found, key=lambda text: sum(sign.isascii() and sign != "\0" for sign in text[:SNIFFED_BYTES]))


def _whole(data: bytes, charset: str) -> str:
    try:
        text = data.decode(charset)
    except UnicodeDecodeError:
        return ""
    return text if _control(text) <= UNPRINTABLE_SHARE_MAX * min(len(text), SNIFFED_BYTES) else ""


def _control(text: str) -> int:
    return sum(not (sign.isprintable() or sign.isspace()) for sign in text[:SNIFFED_BYTES])


def _plain(data: bytes, declared: str) -> str:
    if b"\0" in data[:SNIFFED_BYTES]:
        return _wide(data)
    for charset in (declared if CHARSET.fullmatch(declared) else "", "utf-8"):
        try:
            return data.decode(charset or "utf-8")
        except (UnicodeDecodeError, LookupError):
            continue
    best = from_bytes(data).best()
    if best is None:
        raise UndecodableError("its charset is not known")
    return str(best)
