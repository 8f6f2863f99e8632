"""A report read from the JSON of a crate, so that its page and the other documents can be made of it again."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import TypeAdapter, ValidationError

from chiron_api.reports.report import Report


class ReportUnreadable(ValueError):
    """A JSON document is not a report of this version."""


def reread(content: bytes) -> Report:
    """The report that a JSON document of this version holds. Raises ReportUnreadable."""
    try:
        document = json.loads(content)
        document["agent_words"] = document.pop("unchecked_agent_words")
        for citation in _citations(document):
            citation["selection"] = _selection(citation.pop("target"))
        return TypeAdapter(Report).validate_python(document)
    except (ValidationError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise ReportUnreadable(str(error)) from None


def _citations(document: Any) -> Iterator[Any]:
    findings = [finding for section in document["sections"] for finding in section["findings"]]
    return (citation for finding in [*findings, *document["asides"]] for citation in finding["citations"])


def _selection(target: Any) -> dict[str, Any] | None:
    if target is None:
        return None
    words, position = target["selector"]
    return {
        "start": position["start"], "end": position["end"], "prefix": words["prefix"], "suffix": words["suffix"],
    }  # fmt: skip
