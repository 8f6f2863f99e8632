"""Single changes of a sound crate, each of which its check has to notice even if all hashes are made anew."""

import hashlib
import json
from collections.abc import Callable
from random import Random
from typing import Any

from support.crate_files import METADATA, Files, document, entity, put

REPORT, ANNOTATIONS = "report.json", "annotations.jsonld"
Mutation = Callable[[Files, Random], None]
MUTATIONS: list[Mutation] = []


def mutation(function: Mutation) -> Mutation:
    MUTATIONS.append(function)
    return function


def flip(text: str, random: Random) -> str:
    """The text with another letter at one place."""
    at = random.randrange(len(text))
    letter = random.choice([letter for letter in "aeoxZ019 -é海" if letter != text[at]])
    return text[:at] + letter + text[at + 1 :]


def findings_of(report: Any) -> list[Any]:
    return [finding for section in report["sections"] for finding in section["findings"]] + report["asides"]


def quoted_citations(report: Any) -> list[Any]:
    return [
        citation for finding in findings_of(report) for citation in finding["citations"] if citation["target"]
    ]


def items_of(collection: Any) -> list[Any]:
    return collection["first"]["items"]


def change_both(files: Files, random: Random, change: Callable[[Any], None]) -> None:
    """Change the target of a quote in the report, in the annotations, or in both alike."""
    report, collection = document(files, REPORT), document(files, ANNOTATIONS)
    citation = random.choice(quoted_citations(report))
    item = next(item for item in items_of(collection) if item["id"].endswith(citation["assertion_id"]))
    targets = random.choice([[citation["target"]], [item["target"]], [citation["target"], item["target"]]])
    for target in targets:
        change(target)
    if citation["target"] in targets:
        citation["quote"] = citation["target"]["selector"][0]["exact"]
    put(files, REPORT, report)
    put(files, ANNOTATIONS, collection)


@mutation
def quote(files: Files, random: Random) -> None:
    seed = random.random()

    def change(target: Any) -> None:
        words = target["selector"][0]
        words["exact"] = flip(words["exact"], Random(seed))

    change_both(files, random, change)


@mutation
def surroundings(files: Files, random: Random) -> None:
    seed, name = random.random(), random.choice(["prefix", "suffix"])

    def change(target: Any) -> None:
        words = target["selector"][0]
        words[name] = flip(words[name], Random(seed)) if words[name] else "more "

    change_both(files, random, change)


@mutation
def position(files: Files, random: Random) -> None:
    name, distance = random.choice(["start", "end"]), random.choice([-40, -7, -1, 1, 7, 10_000, 2**31])

    def change(target: Any) -> None:
        target["selector"][1][name] += distance

    change_both(files, random, change)


@mutation
def both_positions(files: Files, random: Random) -> None:
    distance = random.choice([-5, -1, 1, 3, 60])

    def change(target: Any) -> None:
        place = target["selector"][1]
        place["start"] += distance
        place["end"] += distance

    change_both(files, random, change)


@mutation
def text(files: Files, random: Random) -> None:
    name = random.choice([name for name in files if name.startswith("snapshots/")])
    files[name] = flip(files[name].decode(), random).encode()


@mutation
def forged_text(files: Files, random: Random) -> None:
    """A quote's words are changed in its text, and the text's hash wherever it stands."""
    place = random.choice(quoted_citations(document(files, REPORT)))["target"]
    former = place["state"]["cached"].rpartition("/")[2]
    start, end = place["selector"][1]["start"], place["selector"][1]["end"]
    words = files[f"snapshots/{former}.txt"].decode()
    content = (words[:start] + flip(words[start:end], random) + words[end:]).encode()
    digest = hashlib.sha256(content).hexdigest()
    for name in [REPORT, ANNOTATIONS, METADATA]:
        files[name] = files[name].replace(former.encode(), digest.encode())
    del files[f"snapshots/{former}.txt"]
    files[f"snapshots/{digest}.txt"] = content


@mutation
def swapped_texts(files: Files, random: Random) -> None:
    first, second = random.sample([name for name in files if name.startswith("snapshots/")], 2)
    files[first], files[second] = files[second], files[first]


@mutation
def hash_of_a_file(files: Files, random: Random) -> None:
    """As `repair_hashes` lists all files anew, it is the name of the text that is wrong then."""
    name = random.choice([name for name in files if name.startswith("snapshots/")])
    digit = random.choice([digit for digit in "0123456789abcdef" if digit != name[10]])
    other = name[:10] + digit + name[11:]
    files[other] = files.pop(name)
    files[METADATA] = files[METADATA].replace(name.encode(), other.encode())


@mutation
def hash_of_a_source(files: Files, random: Random) -> None:
    report = document(files, REPORT)
    source = random.choice([source for source in report["sources"] if source["snapshot_hash"]])
    source["snapshot_hash"] = source["snapshot_hash"][::-1]
    put(files, REPORT, report)


@mutation
def cached(files: Files, random: Random) -> None:
    def change(target: Any) -> None:
        target["state"]["cached"] = target["state"]["cached"].replace("a", "b")

    change_both(files, random, change)


@mutation
def missing_file(files: Files, random: Random) -> None:
    del files[random.choice([name for name in files if name != METADATA])]


@mutation
def missing_file_that_is_no_longer_listed(files: Files, random: Random) -> None:
    name = random.choice([name for name in files if name != METADATA])
    del files[name]
    metadata = document(files, METADATA)
    metadata["@graph"] = [entry for entry in metadata["@graph"] if entry["@id"] != name]
    root = entity(metadata, "./")
    root["hasPart"] = [part for part in root["hasPart"] if part["@id"] != name]
    put(files, METADATA, metadata)


@mutation
def further_file(files: Files, random: Random) -> None:
    files[random.choice(["snapshots/" + "0" * 64 + ".txt", "README.md", "snapshots/x.txt", ".hidden"])] = (
        b"More."
    )


@mutation
def statement(files: Files, random: Random) -> None:
    name = random.choice([REPORT, ANNOTATIONS])
    content = document(files, name)
    if name == REPORT:
        finding = random.choice([one for one in findings_of(content) if one["is_verified"]])
        finding["content"] = flip(finding["content"], random)
    else:
        item = random.choice(items_of(content))
        item["body"]["value"] = flip(item["body"]["value"], random)
    put(files, name, content)


@mutation
def swapped_facts(files: Files, random: Random) -> None:
    report = document(files, REPORT)
    first, second = random.sample([one for one in findings_of(report) if one["is_verified"]], 2)
    name = random.choice(["content", "fact_id", "citations"])
    first[name], second[name] = second[name], first[name]
    put(files, REPORT, report)


@mutation
def swapped_annotations(files: Files, random: Random) -> None:
    collection = document(files, ANNOTATIONS)
    first, second = random.sample(items_of(collection), 2)
    name = random.choice(["id", "body", "target"])
    first[name], second[name] = second[name], first[name]
    put(files, ANNOTATIONS, collection)


@mutation
def missing_annotation(files: Files, random: Random) -> None:
    collection = document(files, ANNOTATIONS)
    items_of(collection).remove(random.choice(items_of(collection)))
    collection["total"] -= 1
    put(files, ANNOTATIONS, collection)


@mutation
def missing_finding(files: Files, random: Random) -> None:
    report = document(files, REPORT)
    section = random.choice([section for section in report["sections"] if section["findings"]])
    section["findings"].remove(random.choice(section["findings"]))
    put(files, REPORT, report)


@mutation
def unverified_quote_called_verified(files: Files, random: Random) -> None:
    report = document(files, REPORT)
    citations = [citation for finding in findings_of(report) for citation in finding["citations"]]
    random.choice(citations)["is_verified"] ^= True
    put(files, REPORT, report)


@mutation
def source_of_a_citation(files: Files, random: Random) -> None:
    report = document(files, REPORT)
    citation = random.choice(quoted_citations(report))
    citation["source"] += random.choice([-1, 1, 100])
    put(files, REPORT, report)


OMISSION = {"kind": "hidden row", "count": 2, "place": ""}


@mutation
def address_licence_or_gap_of_a_source(files: Files, random: Random) -> None:
    name = random.choice([REPORT, METADATA])
    content = document(files, name)
    if name == REPORT:
        source = random.choice(content["sources"])
        name_of_field = random.choice(["url", "licence", "left_out"])
        source[name_of_field] = [OMISSION] if name_of_field == "left_out" else source[name_of_field] + "x"
    else:
        source = random.choice([entry for entry in content["@graph"] if entry["@id"].startswith("#source-")])
        source[random.choice(["url", "description"])] = "https://x.org"
    put(files, name, content)


@mutation
def contradiction(files: Files, random: Random) -> None:
    report = document(files, REPORT)
    report["contradictions"][0][random.choice(["number", "other"])] = random.choice([99, 1_000])
    put(files, REPORT, report)


@mutation
def run(files: Files, random: Random) -> None:
    report = document(files, REPORT)
    name, value = random.choice(
        [("spent_usd", 0.01), ("model", "gpt"), ("role", "writer"), ("started_at", "2020-01-01T00:00:00+00:00"),
         ("finished_at", None), ("state", "cancelled"), ("run_id", "0")]
    )  # fmt: skip
    random.choice(report["work"]["runs"])[name] = value
    put(files, REPORT, report)


@mutation
def cost_in_the_metadata(files: Files, random: Random) -> None:
    metadata = document(files, METADATA)
    costs = [entry for entry in metadata["@graph"] if entry.get("name") == "spent_usd"]
    random.choice(costs)["value"] += 0.5
    put(files, METADATA, metadata)


@mutation
def cut_document(files: Files, random: Random) -> None:
    name = random.choice([REPORT, ANNOTATIONS, METADATA])
    files[name] = files[name][: random.randrange(len(files[name]))]


def is_changed(before: Files, after: Files) -> bool:
    """Whether a mutation has changed what a crate says."""

    def meaning(files: Files, name: str) -> Any:
        content = files.get(name, b"")
        try:
            return json.loads(content) if name.endswith(("json", "jsonld")) else content
        except ValueError:
            return content

    return any(meaning(before, name) != meaning(after, name) for name in before.keys() | after.keys())
