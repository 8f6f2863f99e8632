"""Reading the sources of facts again."""

SOURCES_MAX = 1_000  # that one recheck reads
