"""Words for the differences of a subject."""

from collections.abc import Mapping

SECTION_TITLES = {
    "new": "New",
    "lifted": "Lifted: confirmed well enough by now",
    "restored": "Restored after they were withdrawn or superseded",
    "changed": "Changed",
    "dropped": "Dropped: no longer confirmed well enough",
    "superseded": "Superseded: no source says so any more",
    "withdrawn": "Withdrawn",
    "corroborated": "Corroborated",
    "contradicted": "Contradicted",
}
SOURCE_COUNTS = ("sources_gone", "sources_back", "sources_back_changed", "sources_changed")


def counts_line(counts: Mapping[str, int]) -> str:
    """The counts in one line: `3 new, 1 withdrawn`, or `nothing is different`."""
    labels = {name: name.replace("_", " ") for name in (*SECTION_TITLES, *SOURCE_COUNTS)}
    labels["sources_back_changed"] = "of them changed"
    parts = [f"{counts[name]:,} {words}" for name, words in labels.items() if counts.get(name)]
    return ", ".join(parts) or "nothing is different"
