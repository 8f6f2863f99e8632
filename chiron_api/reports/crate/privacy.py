"""What of a report may leave the house in a crate, which is made to be handed on."""

from dataclasses import replace
from enum import StrEnum
from ipaddress import ip_address
from urllib.parse import urlsplit

from chiron_api.reports.report import Report, Source, Work
from chiron_workers.documents.omissions import LeftOut

HOUSE_DOMAINS = (
    ".corp",
    ".home",
    ".home.arpa",
    ".internal",
    ".intranet",
    ".lan",
    ".local",
    ".localhost",
    ".private",
)


class TextChoice(StrEnum):
    """Which sources' texts go into a crate."""

    PUBLIC = "public"
    ALL = "all"
    NONE = "none"


def without_secrets(report: Report) -> Report:
    """The report without words of private texts, and with the kind of each run's error alone.

    Addresses have no passwords and keys in any report.
    """
    sources = tuple(replace(source, left_out=_without_words(source)) for source in report.sources)
    runs = tuple(replace(run, error=run.error.partition(":")[0]) for run in report.work.runs)
    work: Work = replace(report.work, runs=runs)
    return replace(report, sources=sources, work=work)


def _without_words(source: Source) -> LeftOut:
    # A place may be told by the first words of a passage.
    if source.left_out is None or is_public(source.url):
        return source.left_out
    return tuple(replace(omission, place="") for omission in source.left_out)


def is_public(url: str) -> bool:
    """Whether an address is one of the web that strangers can read too: no file, no corpus, no host of a house."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme not in {"http", "https"}:
        return False
    try:
        return ip_address(host).is_global
    except ValueError:
        return "." in host.strip(".") and not host.rstrip(".").endswith(HOUSE_DOMAINS)
