"""Claims with the words they rest on, labelled; nothing of the published sets is kept here.

WiCE: a file `oracle_chunks/claim/*.jsonl` of the repository ryokamoi/wice. SciFact: the folder of its release, with
corpus.jsonl and claims_dev.jsonl. HealthVer: a file `data/healthver_*.csv` of sarrouti/HealthVer. Climate-FEVER: the file
`dataset/climate-fever.jsonl` of tdiggelm/climate-fever-dataset. Mutations: true sentences of invented places and people in
five languages, each with the truth in other words and with one thing changed in what it says (`verdict_mutations.tsv`).
"""

import csv
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chiron_workers.knowledge.facts.verdicts import Evidence
from chiron_workers.states import Verdict

MUTATIONS = Path(__file__).with_name("verdict_mutations.tsv")
SENTENCES_MAX = 12  # of a claim's evidence where nobody marked the sentences that matter
LABELS = {
    "supported": Verdict.SUPPORTED,
    "partially_supported": Verdict.PARTLY,
    "not_supported": Verdict.SILENT,
    "SUPPORT": Verdict.SUPPORTED,
    "CONTRADICT": Verdict.CONTRADICTED,
    "Supports": Verdict.SUPPORTED,
    "Refutes": Verdict.CONTRADICTED,
    "Neutral": Verdict.SILENT,
    "SUPPORTS": Verdict.SUPPORTED,
    "REFUTES": Verdict.CONTRADICTED,
    "NOT_ENOUGH_INFO": Verdict.SILENT,
}
PEOPLE = {
    "zh": [
        "王海明",
        "李卫东",
        "赵雪梅",
        "陈建国",
        "孙晓燕",
        "周立新",
        "吴桂英",
        "郑国强",
        "冯玉兰",
        "褚文斌",
    ],
    "": [
        "Marlow",
        "Ostrander",
        "Velasco",
        "Kettering",
        "Duvall",
        "Brandvik",
        "Castellan",
        "Hofmeister",
        "Quintana",
        "Aldersey",
    ],
}
PLACES = {
    "zh": ["青林", "白沙", "东岭", "石门", "云溪", "南屏", "金湖", "北桥", "长岩", "临河"],
    "": [
        "Tarnholm",
        "Vessaly",
        "Orlanda",
        "Brackwater",
        "Quendal",
        "Mirabeau",
        "Sternfeld",
        "Caldera",
        "Lindow",
        "Pavonia",
    ],
}


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A statement with its evidence and the verdict it deserves; `kind` is what was done to it, or its set."""

    evidence: Evidence
    label: Verdict
    kind: str
    language: str = "en"

    @property
    def is_true(self) -> bool:
        return self.label is Verdict.SUPPORTED


def wice(file: Path) -> list[LabelledClaim]:
    """The claims of a file of WiCE, each once, with the sentences that its first annotator marked."""
    claims: dict[str, LabelledClaim] = {}
    for row in _rows(file):
        marked = set(row["meta"].get("oracle_idx", ()))
        places = row["meta"].get("chunk_idx", ())
        sentences = [text for place, text in zip(places, row["evidence"], strict=False) if place in marked]
        quote = " ".join(sentences or row["evidence"][:SENTENCES_MAX])
        claim = LabelledClaim(Evidence(row["claim"], quote), LABELS[row["label"]], "wice")
        claims.setdefault(row["meta"]["id"], claim)
    return list(claims.values())


def scifact(folder: Path) -> list[LabelledClaim]:
    """The claims of SciFact's development set with each abstract's marked sentences."""
    abstracts = {str(row["doc_id"]): row["abstract"] for row in _rows(folder / "corpus.jsonl")}
    claims = []
    for row in _rows(folder / "claims_dev.jsonl"):
        for document, passages in row["evidence"].items():
            for passage in passages:
                quote = " ".join(abstracts[document][place].strip() for place in passage["sentences"])
                evidence = Evidence(row["claim"], quote)
                claims.append(LabelledClaim(evidence, LABELS[passage["label"]], "scifact"))
    return claims


def healthver(file: Path) -> list[LabelledClaim]:
    """The claims of a HealthVer file, each with its passage of an abstract."""
    with file.open(encoding="utf-8", newline="") as lines:
        return [
            LabelledClaim(
                Evidence(row["claim"].strip(), row["evidence"].strip()), LABELS[row["label"]], "healthver"
            )
            for row in csv.DictReader(lines)
        ]


def climate_fever(file: Path) -> list[LabelledClaim]:
    """The claims of Climate-FEVER, once for each of their five sentences, as annotators labelled each pair."""
    return [
        LabelledClaim(
            Evidence(row["claim"], item["evidence"]), LABELS[item["evidence_label"]], "climate-fever"
        )
        for row in _rows(file)
        for item in row["evidences"]
    ]


def mutations(repeats: int, seed: int) -> list[LabelledClaim]:
    """Each sentence with invented names and figures: as it stands, in other words, and mutated.

    The quote as its own statement and the other words are supported; a mutation is labelled `partly`, which stands for
    whatever is not.
    """
    random_source = random.Random(seed)
    claims = []
    with MUTATIONS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    for row in rows:
        for _ in range(repeats):
            slots = _slots(row["language"], random_source)
            quote, truth, mutated = (row[name].format(**slots) for name in ("quote", "true", "mutated"))
            for statement, label in (
                (quote, Verdict.SUPPORTED),
                (truth, Verdict.SUPPORTED),
                (mutated, Verdict.PARTLY),
            ):
                claims.append(LabelledClaim(Evidence(statement, quote), label, row["kind"], row["language"]))
    return claims


def _slots(language: str, random_source: random.Random) -> dict[str, Any]:
    a, b = random_source.sample(PEOPLE.get(language, PEOPLE[""]), 2)
    p, q = random_source.sample(PLACES.get(language, PLACES[""]), 2)
    n, m = random_source.sample(range(31, 90), 2)
    o, t = (n + shift for shift in random_source.sample(range(10, 90), 2))
    tens, ones = random_source.sample(range(1, 10), 2)
    h, i = random_source.sample(range(12, 88), 2)
    y, z = random_source.sample(range(1740, 2010), 2)
    r, s = 100 + 10 * tens + ones, 100 + 10 * ones + tens
    return {
        "a": a, "b": b, "p": p, "q": q, "n": n, "m": m, "o": o, "t": t, "h": h, "i": i, "y": y, "z": z, "r": r, "s": s,
    }  # fmt: skip


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
