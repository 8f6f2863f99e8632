"""The kinds of the sources that facts rest on, by the table that ships and that of CHIRON_SOURCE_KINDS."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from chiron_workers.evidence.source_kinds import bound, read_table, recognise, with_stated
from chiron_workers.settings import settings
from chiron_workers.states import SourceKind


def kind_of(url: str, stated_kind: SourceKind | None = None) -> SourceKind:
    """The kind of source that an address is, under the settings; where it tells nothing, what its page says it is."""
    return with_stated(_kind_at(url, settings().source_kinds), stated_kind)


@lru_cache(maxsize=1_024)  # a call that stores a fact asks six times
def _kind_at(url: str, file: str) -> SourceKind:
    return recognise(url, read_table(Path(file)) if file else None)


def bind(url: str, claimed_score: float, stated_kind: SourceKind | None = None) -> dict[str, Any]:
    """The columns source_kind, claimed_score and source_score of an assertion by a source."""
    kind = kind_of(url)
    whole_kind = with_stated(kind, stated_kind)
    score = bound(whole_kind, claimed_score, is_stated=whole_kind is not kind)
    return {"source_kind": whole_kind, "claimed_score": claimed_score, "source_score": score}


def with_kind(assertion: Mapping[str, Any]) -> dict[str, Any]:
    """A stored assertion with these columns; one that a version before stored without a kind is bound now."""
    if assertion["source_kind"] is not None:
        return {**assertion, "source_kind": SourceKind(assertion["source_kind"])}
    return {**assertion, **bind(assertion["source_url"], assertion["source_score"])}
