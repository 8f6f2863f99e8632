"""A page that is parsed in the sandbox, with the time that its process took."""

import time

from chiron_workers.web.download import Download
from chiron_workers.web.page import parse_download


def read_timed(download: Download) -> float:
    """Milliseconds of CPU that this process has used once the page is parsed."""
    parse_download(download)
    return time.process_time() * 1_000
