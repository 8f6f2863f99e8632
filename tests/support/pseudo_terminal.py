import os
import pty
import sys
from collections.abc import Mapping

from support import forked_python


def output_in_terminal(
    *arguments: str, environment: Mapping[str, str], columns: int = 80, typed: str = "", exit_code: int = 0
) -> str:
    """What `chiron` with these arguments prints on a terminal of so many columns, escape sequences included.

    Args:
        typed: What somebody types there.
    """
    parent, child = pty.openpty()
    process = forked_python.Popen(
        [sys.executable, "-m", "chiron_api", *arguments],
        stdin=child,
        stdout=child,
        stderr=child,
        env={**environment, "COLUMNS": str(columns), "TERM": "xterm-256color"},
    )
    os.close(child)
    os.write(parent, typed.encode())
    parts = []
    try:
        while part := os.read(parent, 65_536):
            parts.append(part)
    except OSError:  # the other end is closed
        pass
    os.close(parent)
    assert process.wait(timeout=60) == exit_code, b"".join(parts)
    return b"".join(parts).decode()
