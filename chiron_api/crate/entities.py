"""What the metadata of a crate says of its files and runs, held against what is there and what the report says."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from chiron_api.crate.archive import Archive, CrateRefused
from chiron_api.crate.documents import Metadata, Report, Run, Source, moment
from chiron_api.crate.layout import (
    DOCUMENTS,
    METADATA,
    SIGNING_FILES,
    SNAPSHOT,
    WITHHELD,
    left_out_note,
    text_address,
)
from chiron_api.text import one_line
from chiron_workers.documents.omissions import Omission

Entities = Mapping[str, dict[str, Any]]


def entities_by_id(metadata: Metadata) -> Entities:
    """The entities by their `@id`. Raises CrateRefused where one has none, or two have the same."""
    entities: dict[str, dict[str, Any]] = {}
    for entity in metadata.graph:
        name = entity.get("@id")
        if not isinstance(name, str) or name in entities:
            raise CrateRefused(f"{METADATA}: an entity has no @id of its own.")
        entities[name] = entity
    return entities


def ids_of(value: object) -> list[str]:
    """The ids that a property refers to, one or several."""
    values = value if isinstance(value, list) else [value]
    ids = [entry.get("@id") for entry in values if isinstance(entry, dict)]
    return [name for name in ids if isinstance(name, str)]


def check_files(archive: Archive, entities: Entities, hashes: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with the list of files: one that is missing, not listed, or not what its hash says.

    Args:
        hashes: The sha256 of each file that is there.
    """
    root = entities.get("./", {})
    if ids_of(entities.get(METADATA, {}).get("about")) != ["./"] or root.get("@type") != "Dataset":
        yield f"{METADATA} does not describe a data set."
    listed_names = ids_of(root.get("hasPart"))
    files = {name for name, entity in entities.items() if entity.get("@type") == "File"}
    if sorted(files) != sorted(listed_names):
        yield f"{METADATA}: the parts of the data set are not the files it describes."
    names = archive.sizes.keys() - {METADATA, *SIGNING_FILES}
    for name in sorted(names - files):
        yield f"{one_line(name)} is not listed."
    for name in sorted(files - names):
        yield f"{one_line(name)} is missing."
    for name in sorted(set(DOCUMENTS) - files):
        yield f"{name} is missing."
    for name in sorted(files & names):
        yield from _check_file(name, entities[name], sha256=hashes[name], size=archive.sizes[name])


def _check_file(name: str, entity: Mapping[str, Any], *, sha256: str, size: int) -> Iterator[str]:
    if name not in DOCUMENTS and not SNAPSHOT.fullmatch(name):
        yield f"{one_line(name)} is no file of a crate."
    elif (match := SNAPSHOT.fullmatch(name)) and match[1] != sha256:
        yield f"{name} is not the text that its name is the hash of."
    if entity.get("sha256") != sha256:
        yield f"{one_line(name)} is not the file that its hash was made of."
    if entity.get("contentSize") != str(size):
        yield f"{one_line(name)} does not have the size that is listed."


def withheld_texts(entities: Entities) -> set[str]:
    """The addresses of texts that the maker of the crate says to have left out."""
    return {
        name
        for name, entity in entities.items()
        if entity.get("conditionsOfAccess") == WITHHELD and "sha256" in entity
    }


def check_sources(report: Report, entities: Entities) -> Iterator[str]:
    """Sources and origins of texts that differ from the report."""
    ids_by_text: dict[str, set[str]] = {}
    for source in report.sources:
        entity_id = f"#source-{source.number}"
        ids_by_text.setdefault(source.snapshot_hash or "", set()).add(entity_id)
        entity = entities.get(entity_id, {})
        left_out = tuple(Omission(part.kind, part.count, part.place) for part in source.left_out or ())
        if not _agree(source, entity, entities) or entity.get("description", "") != left_out_note(left_out):
            yield f"Source {source.number} differs between {METADATA} and the report."
    for name, entity in entities.items():
        match = SNAPSHOT.fullmatch(name)
        if not match and not name.startswith(text_address("")):
            continue
        text_hash = match[1] if match else name.removeprefix(text_address(""))
        if set(ids_of(entity.get("isBasedOn"))) != ids_by_text.get(text_hash, set()):
            yield f"{one_line(name)} is not said to come from the sources that the report names."


def _agree(source: Source, entity: Mapping[str, Any], entities: Entities) -> bool:
    licence = "".join(str(entities.get(name, {}).get("name")) for name in ids_of(entity.get("license")))
    return (
        entity.get("url") == source.url
        and licence == " ".join(source.licence.split())
        and _letters(entity.get("name")) == _letters(source.title or source.url)
        and _letters(_names(entity.get("author", ""))) == _letters(_names(source.authors or source.author))
        and entity.get("identifier", "") == (f"https://doi.org/{source.doi}" if source.doi else "")
        and moment(entity.get("datePublished")) == source.published_at
    )


def _names(author: object) -> str:
    return "".join(map(str, author)) if isinstance(author, list | tuple) else str(author)


def _letters(text: object) -> str:
    """What of a name is read; the metadata has it on one line, without what a screen would obey."""
    return "".join(filter(str.isalnum, str(text)))


def check_runs(report: Report, entities: Entities) -> Iterator[str]:
    """Runs whose model, role, state, times or cost differ from the report."""
    actions = {name for name, entity in entities.items() if entity.get("@type") == "CreateAction"}
    if actions != {f"#run-{run.run_id}" for run in report.work.runs}:
        yield f"{METADATA}: its runs are not those of the report."
        return
    for run in report.work.runs:
        action = entities[f"#run-{run.run_id}"]
        if _told(action, entities) != _reported(run):
            yield f"Run {one_line(run.run_id)} differs between {METADATA} and the report."


def _reported(run: Run) -> dict[str, object]:
    cost = None if run.spent_usd is None else Decimal(str(run.spent_usd))
    return {
        "model": run.model, "role": run.role, "state": run.state, "spent_usd": cost,
        "start": run.started_at, "end": run.finished_at,
    }  # fmt: skip


def _told(action: Mapping[str, Any], entities: Entities) -> dict[str, object]:
    properties = {
        str(entities.get(name, {}).get("name")): entities.get(name, {}).get("value")
        for name in ids_of(action.get("additionalProperty"))
    }
    models = [
        entities.get(name, {}).get("name")
        for name in ids_of(action.get("instrument"))
        if name.startswith("#model-")
    ]
    cost = properties.get("spent_usd")
    return {
        "model": models[0] if models else None,
        "role": properties.get("role"),
        "state": properties.get("state"),
        "spent_usd": Decimal(str(cost)) if isinstance(cost, int | float) else None,
        "start": moment(action.get("startTime")),
        "end": moment(action.get("endTime")),
    }
