"""The metadata of a crate, by RO-Crate 1.1 and its profile for runs of programs."""

import hashlib
import importlib.metadata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chiron_api.crate.layout import (
    ANNOTATIONS,
    METADATA,
    PAGE,
    REPORT,
    SNAPSHOT,
    WITHHELD,
    left_out_note,
    text_address,
)
from chiron_api.reports import phrasing
from chiron_api.reports.report import Report, RunLine, Source
from chiron_workers.states import RunState

Entity = dict[str, object]

ROCRATE = "https://w3id.org/ro/crate/1.1"
RUN_PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
CONTEXT = [f"{ROCRATE}/context", {"sha256": "https://schema.org/sha256"}]
LICENCE_NOTE = (
    "The texts of the sources belong to their authors, and so do the quotes; each source names its licence where it is known. "
    "They are here so that the quotes can be checked."
)
STATUSES = {
    RunState.COMPLETED: "http://schema.org/CompletedActionStatus",
    RunState.FAILED: "http://schema.org/FailedActionStatus",
    RunState.CANCELLED: "http://schema.org/FailedActionStatus",
}
OPEN_STATUS = "http://schema.org/ActiveActionStatus"
TITLES = {
    REPORT: ("The report", "application/json"),
    PAGE: ("The report as a page", "text/html"),
    ANNOTATIONS: ("The quotes as Web Annotations", "application/ld+json"),
    METADATA: ("", "application/ld+json"),
}
TEXT_TITLE = ("Text of a source as it was read", "text/plain")
RUN_PROPERTIES = (
    "role", "state", "spent_usd", "turns", "facts", "confirmed", "cited",
    "input_tokens", "cache_write_tokens", "cache_read_tokens", "output_tokens",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CrateFile:
    """A file that was written into a crate."""

    sha256: str
    size: int
    name: str
    media_type: str


def crate_file(name: str, sha256: str, size: int) -> CrateFile:
    """A file with the title and the media type that its name tells."""
    return CrateFile(sha256, size, *TITLES.get(name, TEXT_TITLE))


def metadata(
    report: Report, files: Mapping[str, CrateFile], withheld: Sequence[str], *, maker: str
) -> dict[str, object]:
    """The document.

    Args:
        files: What is in the crate, by name.
        withheld: The hashes of texts that are left out.
        maker: Which version wrote the page.
    """
    return {"@context": CONTEXT, "@graph": list(_graph(report, files, withheld, maker))}


def _graph(
    report: Report, files: Mapping[str, CrateFile], withheld: Sequence[str], maker: str
) -> Iterator[Entity]:
    sources_by_text: dict[str, list[Source]] = {}
    for source in report.sources:
        sources_by_text.setdefault(source.snapshot_hash or "", []).append(source)
    yield {"@id": METADATA, "@type": "CreativeWork", "conformsTo": {"@id": ROCRATE}, "about": {"@id": "./"}}
    yield _root(report, files)
    yield {"@id": RUN_PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    yield {
        "@id": "#licence",
        "@type": "CreativeWork",
        "name": "Several licences",
        "description": LICENCE_NOTE,
    }
    for name, file in files.items():
        entity = _file(name, file, sources_by_text)
        yield entity | {"version": maker} if name == PAGE else entity
    for text_hash in withheld:
        yield {
            "@id": text_address(text_hash),
            "@type": "CreativeWork",
            "name": "Text of a source that was left out",
            "sha256": text_hash,
            "conditionsOfAccess": WITHHELD,
            "isBasedOn": _references(map(_source_id, sources_by_text.get(text_hash, ()))),
        }
    yield from map(_source, report.sources)
    licences = dict.fromkeys(_licence(source) for source in report.sources)
    for licence in filter(None, licences):
        yield {"@id": _licence_id(licence), "@type": "CreativeWork", "name": licence}
    yield from _provenance(report)


def _root(report: Report, files: Mapping[str, CrateFile]) -> Entity:
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": phrasing.heading(report),
        "description": f"{phrasing.origin_line(report)} With the passages of the sources that its findings rest on.",
        "datePublished": report.made_at,
        "license": {"@id": "#licence"},
        "conformsTo": {"@id": RUN_PROFILE},
        "keywords": ", ".join(phrasing.one_line(subject.title) for subject in report.subjects),
        "hasPart": _references(files),
        "mentions": _references(map(_run_id, report.work.runs)),
    }


def _file(name: str, file: CrateFile, sources_by_text: Mapping[str, list[Source]]) -> Entity:
    match = SNAPSHOT.fullmatch(name)
    sources = sources_by_text.get(match[1], []) if match else []
    about = {"isBasedOn": _references(map(_source_id, sources))} if match else {}
    return {
        "@id": name,
        "@type": "File",
        "name": file.name,
        "encodingFormat": file.media_type,
        "contentSize": str(file.size),
        "sha256": file.sha256,
        **about,
    }


def _source(source: Source) -> Entity:
    names = [phrasing.one_line(name) for name in source.authors]
    details = {
        "author": names[0] if len(names) == 1 else names,
        "identifier": f"https://doi.org/{source.doi}" if source.doi else None,
        "datePublished": source.published_at,
        "license": {"@id": _licence_id(_licence(source))} if _licence(source) else None,
        "description": left_out_note(source.left_out),
    }
    return {
        "@id": _source_id(source),
        "@type": "CreativeWork",
        "name": phrasing.one_line(source.name),
        "url": source.url,
        **{name: value for name, value in details.items() if value},
    }


def _source_id(source: Source) -> str:
    return f"#source-{source.number}"


def _licence(source: Source) -> str:
    return " ".join(source.licence.split())


def _licence_id(licence: str) -> str:
    return f"#licence-{hashlib.sha256(licence.encode('utf-8', 'replace')).hexdigest()[:12]}"


def _provenance(report: Report) -> Iterator[Entity]:
    yield {
        "@id": "#chiron",
        "@type": "SoftwareApplication",
        "name": "Chiron",
        "softwareVersion": importlib.metadata.version("chiron"),
    }
    for model in dict.fromkeys(run.model for run in report.work.runs):
        yield {"@id": _model_id(model), "@type": "SoftwareApplication", "name": model}
    for run in report.work.runs:
        properties = {name: getattr(run, name) for name in RUN_PROPERTIES}
        ids = {
            name: f"{_run_id(run)}-{name.replace('_', '-')}"
            for name, value in properties.items()
            if value is not None
        }
        yield _action(report, run, list(ids.values()))
        for name, property_id in ids.items():
            yield {"@id": property_id, "@type": "PropertyValue", "name": name, "value": properties[name]}


def _action(report: Report, run: RunLine, property_ids: Sequence[str]) -> Entity:
    times = {"startTime": run.started_at, "endTime": run.finished_at, "error": run.error}
    return {
        "@id": _run_id(run),
        "@type": "CreateAction",
        "name": phrasing.numbered_topic(run, report),
        "actionStatus": STATUSES.get(run.state, OPEN_STATUS),
        "description": f"A run of Chiron in the role {run.role}",
        "instrument": _references(["#chiron", _model_id(run.model)]),
        "result": {"@id": REPORT},
        "additionalProperty": _references(property_ids),
        **{name: value for name, value in times.items() if value},
    }


def _references(ids: Iterable[str]) -> object:
    """Entities as the value of a property: RO-Crate wants a list only for several."""
    references = [{"@id": name} for name in ids]
    return references[0] if len(references) == 1 else references


def _run_id(run: RunLine) -> str:
    return f"#run-{run.run_id}"


def _model_id(model: str) -> str:
    return f"#model-{hashlib.sha256(model.encode('utf-8', 'replace')).hexdigest()[:12]}"
