"""The database alone, for commands that need nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager

from chiron_api.local_stack.stack import LocalStack
from chiron_workers.db.connect import require_url
from chiron_workers.settings import read_settings, settings


@contextmanager
def database() -> Iterator[str]:
    """URL of the database; an own one that is stopped runs meanwhile, its schema as it is.

    Raises:
        ChironError: It is not known, or does not start.
    """
    found = read_settings()
    stack = LocalStack(found, kinds=frozenset(), migrates=False)
    if found.database_url or stack.parts() or not stack.home.folder.exists():
        yield require_url(settings().database_url)
        return
    try:
        yield stack.start().database_url
    finally:
        stack.stop()
