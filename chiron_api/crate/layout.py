"""What a crate is made of, for who writes and who verifies it."""

import re

from chiron_workers.documents.omissions import LeftOut, describe

METADATA = "ro-crate-metadata.json"
REPORT = "report.json"
PAGE = "report.html"
ANNOTATIONS = "annotations.jsonld"
DOCUMENTS = (REPORT, PAGE, ANNOTATIONS)
MANIFEST = "manifest.sha256"  # of a signed crate: the hashes of all files but these two
SIGNATURE = "manifest.sha256.sig"
SIGNING_FILES = (MANIFEST, SIGNATURE)
SNAPSHOT = re.compile(r"snapshots/([0-9a-f]{64})\.txt")
WITHHELD = "The text is not in this crate."

FILES_MAX = 60_000  # and so few bytes that no ZIP file needs the fields of ZIP64
NAME_CHARS_MAX = 200
TOTAL_BYTES_MAX = 3 * 1024**3
TEXT_BYTES_MAX = 200 * 1024**2  # the longest text that is kept, 50,000,000 characters of four bytes
JSON_BYTES_MAX = 64 * 1024**2
# Each value takes some hundred bytes of memory to read, and each object or list some thousand.
JSON_COMMAS_MAX = 5_000_000
JSON_BRACKETS_MAX = 500_000


def is_readable(content: bytes) -> bool:
    """Whether a JSON document is so small, and of so few values, that a check reads it."""
    brackets = content.count(b"{") + content.count(b"[")
    return (
        len(content) <= JSON_BYTES_MAX
        and content.count(b",") <= JSON_COMMAS_MAX
        and brackets <= JSON_BRACKETS_MAX
    )


def snapshot_name(text_hash: str) -> str:
    """The file of a text."""
    return f"snapshots/{text_hash}.txt"


def left_out_note(left_out: LeftOut) -> str:
    """What the metadata says of what the reader of a text left out; empty where nothing is known to be missing."""
    return f"Left out of its text: {' '.join(describe(left_out).split())}" if left_out else ""


def text_address(text_hash: str) -> str:
    """The text itself, wherever it is kept."""
    return f"hash://sha256/{text_hash}"


def urn(id: str) -> str:
    """A fact, an assertion or a run, as JSON-LD names it."""
    return f"urn:uuid:{id}"
