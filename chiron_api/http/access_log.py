"""The access log of our servers: paths without what stands behind them.

The link that signs a browser in has its code in the query, and a search has its words there.
"""

import logging
import re

# What uvicorn logs has quoted the path, so a mangled link has its question mark as %3F.
QUERY = re.compile(r"(\?|%3F).*", re.IGNORECASE | re.DOTALL)
PATH_INDEX = 2  # of the arguments: client, method, path with query, version, status


class WithoutQueries(logging.Filter):
    """Cuts the query off each path that uvicorn logs."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let the record pass, without queries."""
        if isinstance(record.args, tuple) and len(record.args) > PATH_INDEX:
            *before, path = record.args[: PATH_INDEX + 1]
            record.args = (*before, QUERY.sub("?…", str(path)), *record.args[PATH_INDEX + 1 :])
        return True


WITHOUT_QUERIES = WithoutQueries()


def cut_queries() -> None:
    """Have no query in the access log from now on; doing it again changes nothing."""
    logging.getLogger("uvicorn.access").addFilter(WITHOUT_QUERIES)
