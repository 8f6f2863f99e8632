"""Variables of the environment that look like settings and are none: a misspelt one would be ignored without a word."""

import difflib
import os
import re
from collections.abc import Mapping

from chiron_workers.settings import Settings

NAMES_MAX = 5  # that one sentence names
NAME_CHARS_MAX = 60
# What is read elsewhere: by the client, by the local stack, and by tests that play more seeds.
OTHER_NAMES = frozenset(
    f"CHIRON_{name}"
    for name in (
        "API_URL", "STACK_HOME", "FAULT_SEEDS", "FUZZ_EXAMPLES", "RACE_SEEDS", "SCHEMATHESIS_EXAMPLES", "SEED",
    )
)  # fmt: skip
# Kubernetes and Docker put the addresses of a service called chiron into the environment.
ADDRESS_NAME = re.compile(r"_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP)(_|$)")
ADDRESS_VALUE = re.compile(r"(tcp|udp)://")


def environment_warnings(environment: Mapping[str, str] = os.environ) -> list[str]:
    """A sentence where variables begin with `CHIRON_` and are no settings, with the nearest name of one; else none."""
    setting_names = {f"CHIRON_{name.upper()}" for name in Settings.model_fields}
    names = sorted(
        name
        for name, value in environment.items()
        if value
        and name.upper().startswith("CHIRON_")
        and name.upper() not in setting_names | OTHER_NAMES
        and not ADDRESS_NAME.search(name.upper())
        and not ADDRESS_VALUE.match(value)
    )
    if not names:
        return []
    parts = [_with_nearest(name, sorted(setting_names)) for name in names[:NAMES_MAX]]
    if len(names) > NAMES_MAX:
        parts.append(f"{len(names) - NAMES_MAX:,} more")
    return [f"The environment sets what is no setting and only an MCP file could use: {', '.join(parts)}."]


def _with_nearest(name: str, setting_names: list[str]) -> str:
    printable = ascii(name)[1:-1][:NAME_CHARS_MAX]
    nearest = difflib.get_close_matches(name.upper(), setting_names, n=1)
    return f"{printable} (did you mean {nearest[0]}?)" if nearest else printable
