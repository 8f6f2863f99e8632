"""The database alone, for commands that need no other part of the stack."""

from collections.abc import Iterator
from contextlib import contextmanager

from chiron_api.local_stack.stack import LocalStack
from chiron_workers.db.connect import require_url
from chiron_workers.settings import read_settings, settings


@contextmanager
def database() -> Iterator[str]:
    """The URL of the database. The embedded one is started for the block if it does not run, without migrating it.

    Raises:
        ChironError: No database is configured, or it does not start.
    """
    own_settings = read_settings()
    stack = LocalStack(own_settings, kinds=frozenset(), migrates=False)
    if own_settings.database_url or stack.parts() or not stack.home.folder.exists():
        yield require_url(settings().database_url)
        return
    try:
        yield stack.start().database_url
    finally:
        stack.stop()
