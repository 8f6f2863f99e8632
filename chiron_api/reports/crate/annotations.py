from collections.abc import Iterator

from chiron_api.crate.layout import snapshot_name, urn
from chiron_api.reports.report import Report
from chiron_api.reports.selections import target


def annotations(report: Report) -> dict[str, object]:
    """Each statement with the passage that bears it out, as a collection of the Web Annotation Data Model."""
    items = list(_items(report))
    return {
        "@context": "http://www.w3.org/ns/anno.jsonld",
        "id": urn(report.id) + "#annotations" if report.kind != "subject" else f"#{report.id}",
        "type": "AnnotationCollection",
        "total": len(items),
        "first": {"type": "AnnotationPage", "startIndex": 0, "items": items},
    }


def _items(report: Report) -> Iterator[dict[str, object]]:
    sources = {source.number: source for source in report.sources}
    for finding in report.by_number().values():
        for citation in finding.citations:
            source = sources[citation.source]
            place = target(citation, source, cached=snapshot_name(source.snapshot_hash or ""))
            if place:
                yield {
                    "id": urn(citation.assertion_id),
                    "type": "Annotation",
                    "motivation": "describing",
                    "created": citation.stored_at,
                    "body": {
                        "id": urn(finding.fact_id),
                        "type": "TextualBody",
                        "value": citation.wording or finding.content,
                        "format": "text/plain",
                    },
                    "target": place,
                }
