"""Elements of generated documents that are neither in the text nor in the list of what was left out: there must be none.

`uv run python benchmarks/omissions.py [--documents N] [--seed N] [--json FILE]` reads so many documents of each format, each with
every element that the format's table knows and some that it does not. `omission_formats/` has a module for each format.
"""

import argparse
import sys
import time
from collections import Counter
from random import Random
from typing import Any

from figures import begin, table
from omission_formats.trial import Format, formats, joined, probes_of, unaccounted

UNKNOWN_ELEMENTS = 5  # in each document


def measure(file_format: Format, *, documents: int, seed: int) -> dict[str, Any]:
    """How many elements of so many documents are lost, by name, and what reading them took."""
    chance, lost, elements, read_s = Random(seed), Counter[str](), 0, 0.0
    for _ in range(documents):
        unknown_elements = [file_format.unknown(chance) for _ in range(UNKNOWN_ELEMENTS)]
        probes = probes_of([*file_format.elements, *unknown_elements], chance)
        data = file_format.build(probes, chance)
        began = time.process_time()
        document = file_format.read(data)
        read_s += time.process_time() - began
        unknown_probes = [probe for probe in probes if probe.element in unknown_elements]
        lost.update(unaccounted(file_format, probes, document))
        lost.update(joined(unknown_probes, document))
        elements += len(probes)
    return {
        "documents": documents,
        "elements": elements,
        "lost": sum(lost.values()),
        "names": dict(lost.most_common(20)),
        "ms_each": round(1000 * read_s / documents, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=200, help="Of each format.")
    parser.add_argument("--seed", type=int, default=33)
    with begin(parser) as (arguments, report):
        for file_format in formats():
            figures = measure(file_format, documents=arguments.documents, seed=arguments.seed)
            report.figures[file_format.name] = [figures]
        columns = ("documents", "elements", "lost", "ms_each")
        rows = [
            [name, *(f"{figures[column]:,}" for column in columns), ", ".join(figures["names"])]
            for name, (figures,) in report.figures.items()
        ]
        table("Elements neither in the text nor in the list", ["format", *columns, "which"], rows)
    if any(figures["lost"] for (figures,) in report.figures.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
