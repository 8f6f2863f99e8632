"""Children that somebody else's code starts, such as the stdio transport of MCP, forked where they are programs of ours."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from support import forked_python


@contextmanager
def forked_children() -> Iterator[None]:
    """Fork what `subprocess.Popen` is asked to start as `[sys.executable, "-m", ...]`, until the block ends."""
    start = subprocess.Popen

    def fork_or_start(command: Sequence[Any], **options: Any) -> "subprocess.Popen[Any]":
        is_module = list(command[:2]) == [sys.executable, "-m"]
        return (forked_python.Popen if is_module else start)(command, **options)

    with patch("subprocess.Popen", fork_or_start):
        yield
