"""The sources of a report as a BibTeX database in UTF-8, for BibTeX and biblatex."""

from collections.abc import Iterator

from chiron_api.reports.bibliography.authors import Author
from chiron_api.reports.bibliography.entries import Entry, entries
from chiron_api.reports.bibliography.kinds import WorkKind
from chiron_api.reports.report import Report
from chiron_api.reports.write import Format

# BibTeX counts braces, also those behind a backslash, so a brace of a text is written by its name.
ESCAPES = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_"}
    | {"{": r"\textbraceleft{}", "}": r"\textbraceright{}", "\\": r"\textbackslash{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)
# What needs a journal or an institution, which nobody knows here, is `misc`, and `type` says what it is.
TYPES = {WorkKind.ARTICLE: "article", WorkKind.BOOK: "book", WorkKind.REPORT: "techreport"}
NAMES = {WorkKind.DATASET: "Data set", WorkKind.PREPRINT: "Preprint", WorkKind.PAGE: "Web page"}


def render(report: Report) -> Iterator[str]:
    """The document, entry by entry."""
    for entry in entries(report):
        yield "".join(_lines(entry))


def _lines(entry: Entry) -> Iterator[str]:
    published_at, accessed_at = entry.published_at, entry.accessed_at
    fields = {
        "author": " and ".join(map(_name, entry.authors)),
        "title": f"{{{escape(entry.title)}}}",  # a second pair of braces keeps capital letters
        "year": f"{published_at:%Y}" if published_at else "",
        "month": str(published_at.month) if published_at else "",
        "howpublished": escape(entry.site or entry.path),
        "type": NAMES.get(entry.kind, ""),
        "doi": entry.doi,
        "url": entry.url,
        "urldate": f"{accessed_at:%Y-%m-%d}" if accessed_at else "",
        "keywords": ", ".join(escape(keyword.replace(",", " ")) for keyword in entry.keywords),
        "note": escape(entry.note),
    }
    yield f"@{TYPES.get(entry.kind, 'misc')}{{{entry.key}"
    for name, value in fields.items():
        if value:
            yield f",\n  {name} = {{{value}}}"
    yield "\n}\n\n"


def escape(text: str) -> str:
    """A text in which LaTeX and BibTeX read nothing but its letters."""
    return text.translate(ESCAPES)


def _name(author: Author) -> str:
    """A name in which BibTeX takes no word, comma or "and" of its own for a part; a body is one part."""
    if not author.is_person:
        return f"{{{escape(author.family)}}}"
    family = f"{{{escape(author.family)}}}" if " " in author.family else escape(author.family)
    parts = (f"{escape(author.particle)} {family}".strip(), escape(author.suffix), escape(author.given))
    return ", ".join(part for part in parts if part)


FORMAT = Format("bibtex", order=7, media_type="application/x-bibtex", render=render)
