"""The parts that a stop under way still waits for: from the table of processes, as a supervisor that stops lists none."""

import json

import psutil

from chiron_api.local_stack.home import Home
from chiron_api.local_stack.programs import PRIORITY, Kind, node_name
from chiron_api.local_stack.supervision import PARTS_FILE, Part

NAME_VARIABLE = "SUPERVISOR_PROCESS_NAME"  # which supervisord sets for each part


def ending_parts(home: Home, supervisor_pid: int) -> list[Part]:
    """The parts of a stopping supervisor that have not ended yet, services first."""
    kinds_and_addresses: dict[str, list[str]] = json.loads((home.folder / PARTS_FILE).read_text())
    parts = []
    for process in _children(supervisor_pid):
        name = _name(process)
        if name in kinds_and_addresses:
            kind, address = kinds_and_addresses[name]
            node = node_name(name, process.pid) if kind == Kind.WORKER else ""
            parts.append(Part(name, Kind(kind), process.pid, "stopping", node or address))
    return sorted(parts, key=lambda part: (PRIORITY[part.kind], part.name))


def _children(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children()
    except psutil.NoSuchProcess:
        return []


def _name(process: psutil.Process) -> str:
    try:
        return process.environ().get(NAME_VARIABLE, "")
    except (psutil.Error, OSError):
        return ""
