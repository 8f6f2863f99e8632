"""The coverage map of a subject, as a model and as a document."""

from typing import Literal

from chiron_api.answers.learning import CoverageMap
from chiron_api.client.call import Call, get

MapFormat = Literal["tree", "mermaid", "json"]


def coverage_map(subject: str) -> Call[CoverageMap]:
    """The coverage map of a subject, nested, with how many facts belong to each node."""
    return get("/v1/subjects/{id}/map", CoverageMap, target=subject, query={"format": "json"})


def map_document(subject: str, *, format: MapFormat = "mermaid") -> Call[bytes]:
    """The same as a document of a format: a Mermaid flowchart, or a tree of lines."""
    return get("/v1/subjects/{id}/map", bytes, target=subject, query={"format": format})
