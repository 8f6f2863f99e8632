"""Real text that is on every machine that runs the tests: documentation, licences and manuals, as pages and files."""

import decimal
import importlib.metadata
import statistics
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics

from markdown_it import MarkdownIt

from chiron_workers.documents.html import read_html
from chiron_workers.documents.pdf import read_pdf

CHARS_MAX = 12_000
GOLDEN = Path(__file__).parents[1] / "golden"


@cache
def real_documents() -> dict[str, str]:
    """At most 12,000 characters of each document, by its name."""
    manual = read_pdf((GOLDEN / "bzip2-manual.pdf").read_bytes(), name="bzip2").text
    page = MarkdownIt("commonmark", {"typographer": True}).enable(["replacements", "smartquotes"])
    found = {
        "a manual as PDF": manual[20_000:],
        "a web page": read_html(page.render(_body("pydantic")[:25_000])).text,
        "release notes": _body("yarl"),
        "a manual": _body("supervisor"),
        "a reference": "\n\n".join(topics[name] for name in sorted(topics))[60_000:],
        "mathematics": f"{decimal.__doc__}\n\n{statistics.__doc__}\n\n"
        + "\n\n".join(str(vars(decimal.Decimal)[name].__doc__) for name in sorted(vars(decimal.Decimal))),
        "a licence": _licence("numpy"),
    }
    return {name: text[:CHARS_MAX] for name, text in found.items()}


def _body(name: str) -> str:
    described = importlib.metadata.metadata(name)
    return str(described["Description"] or described.get_payload())  # type: ignore[attr-defined]


def _licence(name: str) -> str:
    files = importlib.metadata.distribution(name).files or []
    return "\n\n".join(
        Path(str(file.locate())).read_text() for file in sorted(files) if file.name.startswith("LICENSE")
    )[:CHARS_MAX]
