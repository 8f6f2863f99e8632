"""The memory of a worker process: what its allocator keeps, and when its garbage is collected."""

import contextlib
import ctypes
import gc
import os
import sys

# New objects until a look at the young ones, and looks at a generation until one at the next older. Runs make no cycles of
# references, so that a look finds nothing and costs CPU; the last number bounds what other code may leave behind.
THRESHOLDS = (50_000, 20, 10)
ARENAS_MAX = 2
M_ARENA_MAX = -8  # its number in malloc.h of glibc


def share_arenas() -> None:
    """Have all threads share what the C library allocates: it keeps memory for each of hundreds that wait for a run.

    MALLOC_ARENA_MAX goes before; where the library is another than glibc, nothing happens.
    """
    if sys.platform == "linux" and "MALLOC_ARENA_MAX" not in os.environ:
        with contextlib.suppress(AttributeError):
            ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS_MAX)


def spare_start_up() -> None:
    """Leave what there is now out of all collections, and collect rarely: for a process that has just started."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
