"""What this machine, or this container, is called in the names of its workers."""

import hashlib
import socket
from pathlib import Path

PROC = Path("/proc")
OUTERMOST = 0xEFFFFFFC  # the inode of the PID namespace of a Linux that is no container
ID_CHARS = 6


def host_name() -> str:
    """The host's name. In a container an id of the container follows, as process ids are the same in all of them.

    Containers that share the host's network, or were given one name, have the same host name, and each begins with process 1.
    """
    container_id = _container_id()
    return f"{socket.gethostname()}-{container_id}" if container_id else socket.gethostname()


def _container_id() -> str:
    """The same for all processes of a container, and another for each container and each of its starts; else empty."""
    try:
        namespace = (PROC / "self/ns/pid").stat().st_ino
        if namespace == OUTERMOST:
            return ""
        boot_id = (PROC / "sys/kernel/random/boot_id").read_text()
        # The program's name, in parentheses, may have spaces; the 20th field after it is when process 1 began.
        began = (PROC / "1/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):  # not Linux, or processes of others are hidden
        return ""
    return hashlib.sha256(f"{boot_id} {namespace} {began}".encode()).hexdigest()[:ID_CHARS]
