"""The kinds of the sources that facts rest on, by the table that ships and that of CHIRON_SOURCE_KINDS."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chiron_workers.evidence.source_kinds import bound, read_table, recognise
from chiron_workers.settings import settings
from chiron_workers.states import SourceKind


def kind_of(url: str) -> SourceKind:
    """The kind of source that an address is, under the settings."""
    file = settings().source_kinds
    return recognise(url, read_table(Path(file)) if file else None)


def bind(url: str, claimed_score: float) -> dict[str, Any]:
    """The columns source_kind, claimed_score and source_score of an assertion by a source."""
    kind = kind_of(url)
    return {"source_kind": kind, "claimed_score": claimed_score, "source_score": bound(kind, claimed_score)}


def with_kind(assertion: Mapping[str, Any]) -> dict[str, Any]:
    """A stored assertion with these columns; one that a version before stored without a kind is bound now."""
    if assertion["source_kind"] is not None:
        return {**assertion, "source_kind": SourceKind(assertion["source_kind"])}
    return {**assertion, **bind(assertion["source_url"], assertion["source_score"])}
