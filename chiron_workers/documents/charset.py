import codecs
import re

from chiron_workers.documents.document import UnreadableError

SNIFFED_BYTES = 2048
UNPRINTABLE_SHARE_MAX = 0.02
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # Must precede UTF-16, whose mark it begins with.
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Python has codecs that are no charsets and are costly: decoding punycode takes quadratic time.
CHARSET = re.compile(
    r"(utf|iso|latin|windows|cp|gb|big5|euc|shift|s?jis|koi8|mac|ascii|us-ascii|tis|hz)[\w:-]*", re.IGNORECASE
)
WIDE_CHARSETS = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w:-]{2,40})", re.IGNORECASE)


class UndecodableError(UnreadableError):
    """The bytes are binary, or no charset fits them."""


def decode(data: bytes, *, declared_charset: str = "") -> str:
    """Decode bytes by their byte order mark, else as declared, else as UTF-8, else by the charset that fits best.

    Raises:
        UndecodableError: The bytes are no text.
    """
    text = _decode_by_mark(data) or _decode_unmarked(data, declared_charset)
    if _control_chars(text) > UNPRINTABLE_SHARE_MAX * min(len(text), SNIFFED_BYTES):
        raise UndecodableError("it is binary, not text")
    return text


def html_charset(data: bytes) -> str:
    """The charset that an HTML page declares in its head; empty if none."""
    match = META_CHARSET.search(data[:SNIFFED_BYTES])
    return match.group(1).decode("ascii") if match else ""


def _decode_by_mark(data: bytes) -> str:
    for mark, charset in BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return data.decode(charset, errors="replace").removeprefix("\ufeff")
    return ""


def _decode_wide(data: bytes) -> str:
    """Decode UTF-16 or UTF-32 without a byte order mark; the right byte order gives the most ASCII."""
    candidates = [text for charset in WIDE_CHARSETS if (text := _try_decode(data, charset))]
    if not candidates:
        raise UndecodableError("it is binary, not text")
    return max(
        candidates, key=lambda text: sum(char.isascii() and char != "\0" for char in text[:SNIFFED_BYTES])
    )


def _try_decode(data: bytes, charset: str) -> str:
    try:
        text = data.decode(charset)
    except UnicodeDecodeError:
        return ""
    return text if _control_chars(text) <= UNPRINTABLE_SHARE_MAX * min(len(text), SNIFFED_BYTES) else ""


def _control_chars(text: str) -> int:
    return sum(not (char.isprintable() or char.isspace()) for char in text[:SNIFFED_BYTES])


def _decode_unmarked(data: bytes, declared_charset: str) -> str:
    if b"\0" in data[:SNIFFED_BYTES]:
        return _decode_wide(data)
    for charset in (declared_charset if CHARSET.fullmatch(declared_charset) else "", "utf-8"):
        try:
            return data.decode(charset or "utf-8")
        except (UnicodeDecodeError, LookupError):
            continue
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    if best is None:
        raise UndecodableError("its charset is not known")
    return str(best)
