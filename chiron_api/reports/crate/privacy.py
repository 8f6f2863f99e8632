"""What of a report may leave the house in a crate, which is made to be handed on."""

from dataclasses import replace
from enum import StrEnum
from ipaddress import ip_address
from urllib.parse import urlsplit

from chiron_api.reports.report import Report, Work

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
    """The report with only the kind of errors of runs; addresses have no passwords and keys in any report."""
    runs = tuple(replace(run, error=run.error.partition(":")[0]) for run in report.work.runs)
    work: Work = replace(report.work, runs=runs)
    return replace(report, work=work)


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
