import codecs
import re
import unicodedata

from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.omissions import Omission

SNIFFED_BYTES = 2048
UNPRINTABLE_SHARE_MAX = 0.02
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",  # Must precede UTF-16, whose mark it begins with.
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# What browsers read under these labels has more signs than Python's codecs of the same name.
WIDER_CODECS = {"gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs"}
WIDER_CODECS |= {"x-user-defined": "cp1252"}  # as HTML has it
SEVEN_BIT_CODEC = "iso2022_jp"  # Its bytes are UTF-8 too, and say something else then.
ESCAPE = b"\x1b"
WIDE_CHARSETS = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w:-]{2,40})", re.IGNORECASE)
XML_CHARSET = re.compile(rb"\s*<\?xml[^>]{0,200}\sencoding\s*=\s*[\"']\s*([\w:.-]{2,40})", re.IGNORECASE)
BROKEN_SHARE_MAX = (
    0.1  # of the signs beyond ASCII, up to which the text is in the charset and a few bytes are broken
)


GUESS = "sign of a guessed charset"
WESTERN = "cp1252"
WESTERN_SHARE_MAX = 0.02  # of bytes beyond ASCII
WESTERN_BYTES, SHORT_SHARE_MAX = 5, 0.15  # and so many of a short text


class UndecodableError(UnreadableError):
    """The bytes are binary, or no charset fits them."""


def decode(data: bytes, *, declared_charset: str = "") -> str:
    """Decode bytes by their byte order mark, else as UTF-8, else as declared, else by the charset that fits best.

    A declared label is that of a charset as browsers read it (https://encoding.spec.whatwg.org): `iso-8859-1` is windows-1252.

    Raises:
        UndecodableError: The bytes are no text.
    """
    return decode_listed(data, declared_charset=declared_charset)[0]


def decode_listed(data: bytes, *, declared_charset: str = "") -> tuple[str, tuple[Omission, ...]]:
    """Decode bytes as `decode`, and list the signs whose charset is a guess.

    Raises:
        UndecodableError: The bytes are no text.
    """
    is_guess, text = False, _decode_by_mark(data)
    if not text:
        is_guess, text = _decode_unmarked(data, declared_charset)
    if _control_chars(text) > UNPRINTABLE_SHARE_MAX * min(len(text), SNIFFED_BYTES):
        raise UndecodableError("it is binary, not text")
    signs = len(text) - len(text.encode("ascii", errors="ignore")) if is_guess else 0
    return text, (Omission(GUESS, signs),) if signs else ()


def html_charset(data: bytes) -> str:
    """The charset that an HTML page or XML declares in its head; empty if none."""
    match = META_CHARSET.search(data[:SNIFFED_BYTES]) or XML_CHARSET.match(data[:SNIFFED_BYTES])
    label = match.group(1).decode("ascii").lower() if match else ""
    # Whoever can read the declaration as ASCII does not read UTF-16.
    return "" if label.startswith(("utf-16", "utf-32", "ucs-2", "unicode")) else label


def _decode_by_mark(data: bytes) -> str:
    for mark, charset in BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            text = data.decode(charset, errors="replace").removeprefix("\ufeff")
            if charset != "utf-8" and not _is_wide_text(text):
                raise UndecodableError("it is binary, not text")
            return text
    return ""


def _decode_wide(data: bytes) -> str:
    """Decode UTF-16 or UTF-32 without a byte order mark; the right byte order gives the most ASCII."""
    candidates = [text for charset in WIDE_CHARSETS if (text := _try_wide(data, charset))]
    if not candidates:
        raise UndecodableError("it is binary, not text")
    return max(
        candidates, key=lambda text: sum(char.isascii() and char != "\0" for char in text[:SNIFFED_BYTES])
    )


def _try_wide(data: bytes, charset: str) -> str:
    try:
        text = data.decode(charset)
    except UnicodeDecodeError:
        return ""
    return text if _is_wide_text(text) else ""


def _is_wide_text(text: str) -> bool:
    # Any bytes are UTF-16 of some signs, many of which nobody has assigned.
    strange_chars = sum(unicodedata.category(char) in ("Cc", "Cn", "Co") for char in _beginning(text))
    return strange_chars <= UNPRINTABLE_SHARE_MAX * min(len(text), SNIFFED_BYTES)


def _control_chars(text: str) -> int:
    # Marks that show nothing (category Cf) are text: Persian and Khmer are written with them, and hyphens may be soft.
    return sum(unicodedata.category(char) == "Cc" for char in _beginning(text))


def _beginning(text: str) -> str:
    return "".join(text[:SNIFFED_BYTES].split())


def _decode_unmarked(data: bytes, declared_charset: str) -> tuple[bool, str]:
    """Whether the charset is a guess, and the text."""
    if b"\0" in data[:SNIFFED_BYTES]:
        return False, _decode_wide(data)
    codec = _codec(declared_charset)
    charsets = (codec, "utf-8") if codec == SEVEN_BIT_CODEC and ESCAPE in data else ("utf-8", codec)
    for charset in charsets:
        if charset and (text := _try_decode(data, charset)) is not None:
            return False, text
    if codec and _is_single_byte(codec):
        return False, data.decode(codec, errors="replace")
    if _is_western(data):
        return True, data.decode(WESTERN)
    from charset_normalizer import from_bytes

    best = from_bytes(data).best()
    if best is None:
        raise UndecodableError("its charset is not known")
    return True, str(best)


def _is_single_byte(codec: str) -> bool:
    return len(bytes(range(256)).decode(codec, errors="replace")) == 256  # the values of a byte


def _is_western(data: bytes) -> bool:
    """Whether so few bytes are beyond ASCII that they tell no charset: signs and letters in a text of Latin letters."""
    bytes_beyond = len(data) - len(data.decode("ascii", errors="ignore"))
    if bytes_beyond > max(WESTERN_SHARE_MAX * len(data), min(WESTERN_BYTES, len(data) * SHORT_SHARE_MAX)):
        return False
    return "\ufffd" not in data.decode(WESTERN, errors="replace")


def _codec(label: str) -> str:
    """Python's codec for a label; empty where browsers know no such charset. Codecs that are no charsets are costly."""
    import webencodings

    encoding = webencodings.lookup(label) if label.isascii() else None
    name = "" if encoding is None else encoding.codec_info.name
    return WIDER_CODECS.get(name, name)


def _try_decode(data: bytes, charset: str) -> str | None:
    """The text, also where a few bytes of it are broken; None where it is in another charset."""
    try:
        return data.decode(charset)
    except UnicodeDecodeError:
        text = data.decode(charset, errors="replace")
    signs = len(text) - len(text.encode("ascii", errors="ignore"))
    return text if text.count("\ufffd") <= BROKEN_SHARE_MAX * signs else None
