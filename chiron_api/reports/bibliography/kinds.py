"""What kind of work an address leads to, as far as the address alone tells it."""

from enum import StrEnum
from pathlib import PurePosixPath

from chiron_workers.public_addresses import url_parts

JOURNALS = (
    "academic.oup.com", "biomedcentral.com", "bmj.com", "cell.com", "frontiersin.org", "jamanetwork.com", "journals.plos.org",
    "jstor.org", "link.springer.com", "mdpi.com", "nature.com", "nejm.org", "ncbi.nlm.nih.gov", "onlinelibrary.wiley.com",
    "pmc.ncbi.nlm.nih.gov", "pnas.org", "pubmed.ncbi.nlm.nih.gov", "royalsocietypublishing.org", "science.org",
    "sciencedirect.com", "tandfonline.com", "thelancet.com",
)  # fmt: skip
PREPRINTS = ("arxiv.org", "biorxiv.org", "medrxiv.org", "chemrxiv.org", "osf.io", "ssrn.com", "preprints.org")
DATASETS = (
    "data.gov",
    "data.gov.uk",
    "data.europa.eu",
    "dataverse.harvard.edu",
    "datadryad.org",
    "figshare.com",
    "pangaea.de",
)
BOOKS = ("books.google.com", "gutenberg.org", "openlibrary.org", "worldcat.org")
DATA_ENDINGS = {".csv", ".tsv", ".xlsx", ".parquet", ".nc", ".json"}


class WorkKind(StrEnum):
    """What a source is, by the words of CSL."""

    ARTICLE = "article-journal"
    PREPRINT = "article"
    REPORT = "report"
    DATASET = "dataset"
    BOOK = "book"
    PAGE = "webpage"
    DOCUMENT = "document"  # no address of the web: a file, a page of the corpus, the title of a book


def kind_of(url: str) -> WorkKind:
    """The kind of work at an address; a page where nothing says more, and a document where it is none of the web."""
    parts = url_parts(url)
    host, ending = parts.hostname or "", PurePosixPath(parts.path).suffix.lower()
    kinds = (
        (PREPRINTS, WorkKind.PREPRINT),
        (DATASETS, WorkKind.DATASET),
        (JOURNALS, WorkKind.ARTICLE),
        (BOOKS, WorkKind.BOOK),
    )
    for hosts, kind in kinds:
        if any(host == name or host.endswith(f".{name}") for name in hosts):
            return kind
    if ending in DATA_ENDINGS:
        return WorkKind.DATASET
    if parts.scheme not in {"http", "https"}:
        return WorkKind.DOCUMENT
    if host in {"doi.org", "dx.doi.org"}:
        return WorkKind.ARTICLE
    return WorkKind.REPORT if ending == ".pdf" else WorkKind.PAGE
