"""Python's garbage collector in a worker process."""

import gc

# New objects until a look at the young ones, and looks at a generation until one at the next older. Runs make no cycles of
# references, so that a look finds nothing and costs CPU; the last number bounds what other code may leave behind.
THRESHOLDS = (50_000, 20, 10)


def spare_start_up() -> None:
    """Leave what there is now out of all collections, and collect rarely: for a process that has just started."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
