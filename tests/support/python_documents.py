"""Documentation of Python as a corpus: what every CPython carries, and what the Debian package python3-doc installs."""

from collections.abc import Callable
from pathlib import Path
from pydoc_data.topics import topics

from chiron_workers.documents.read_folder import FileDocument, read_folder
from chiron_workers.knowledge.corpus import AddedCounts, Corpus
from chiron_workers.runs.session import Session

DEBIAN = Path("/usr/share/doc")
FOLDERS = ("reference", "tutorial")
NO_PACKAGE = (
    "The Debian package python3-doc is not installed; `apt-get install python3-doc` brings the corpus."
)
Fill = Callable[[Session, str], object]


def debian_folders() -> list[Path]:
    """The folders of the newest documentation that is installed; none where there is none."""
    pages = sorted(DEBIAN.glob("python3*/html/reference/executionmodel.html"))
    html = pages[-1].parents[1].resolve() if pages else None
    return [html / name for name in FOLDERS] if html else []


async def add_carried_reference(session: Session, subject: str) -> AddedCounts:
    """Put the language reference that every CPython carries into a corpus."""
    texts = [(name, text.strip().partition("\n")[0], text) for name, text in sorted(topics.items())]
    return await Corpus(session).add_texts(subject, texts)


async def add_debian_manuals(session: Session, subject: str) -> AddedCounts:
    """Put language reference and tutorial of the Debian package into a corpus, read as `chiron corpus add` reads them."""
    files = [
        file
        for folder in debian_folders()
        for file in read_folder(folder)
        if isinstance(file, FileDocument) and file.path != "index.html"
    ]
    return await Corpus(session).add(subject, files)
