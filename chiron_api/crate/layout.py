"""What a crate is made of, for who writes and who verifies it."""

import re

METADATA = "ro-crate-metadata.json"
REPORT = "report.json"
PAGE = "report.html"
ANNOTATIONS = "annotations.jsonld"
DOCUMENTS = (REPORT, PAGE, ANNOTATIONS)
SNAPSHOT = re.compile(r"snapshots/([0-9a-f]{64})\.txt")
WITHHELD = "The text is not in this crate."

FILES_MAX = 60_000  # and so few bytes that no ZIP file needs the fields of ZIP64
NAME_CHARS_MAX = 200
TOTAL_BYTES_MAX = 3 * 1024**3
TEXT_BYTES_MAX = 200 * 1024**2  # the longest text that is kept, 50,000,000 characters of four bytes
JSON_BYTES_MAX = 64 * 1024**2
JSON_VALUES_MAX = 5_000_000  # commas, and so about as many values; each takes some hundred bytes of memory


def snapshot_name(text_hash: str) -> str:
    """The file of a text."""
    return f"snapshots/{text_hash}.txt"


def text_address(text_hash: str) -> str:
    """The text itself, wherever it is kept."""
    return f"hash://sha256/{text_hash}"


def urn(id: str) -> str:
    """A fact, an assertion or a run, as JSON-LD names it."""
    return f"urn:uuid:{id}"
