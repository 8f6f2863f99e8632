"""What holds the processes that parse what strangers wrote."""

import sys
from functools import partial

from chiron_api.local_stack.checks import Check
from chiron_workers.documents.document import UnreadableError
from chiron_workers.documents.sandbox.confinement import Confinement, describe
from chiron_workers.documents.sandbox.sandbox import Limits, run_sandboxed_sync
from chiron_workers.settings import Settings

ORDER = 15
LIMITS = "limits of time and memory"
CALLS = "no network, no programs, no writing (seccomp)"
FILES = "no files but Python's (landlock)"
WITHOUT_CALLS = (
    "A subverted parser could reach the network: run on x86_64 or aarch64, and let containers use seccomp."
)
WITHOUT_FILES = "A subverted parser could read files: Linux 5.13 or newer with landlock in its boot option lsm= prevents that."


def checks(settings: Settings) -> list[Check]:
    """Fork a parser, and ask it what it may not do."""
    try:
        confinement = run_sandboxed_sync(partial(describe), limits=Limits())
    except UnreadableError as error:
        return [
            Check(
                "parsers", f"No parser can be started: {error}.", "Look for processes or memory that run out."
            )
        ]
    return [check(confinement, is_linux=sys.platform == "linux")]


def check(confinement: Confinement, *, is_linux: bool) -> Check:
    """What is in force, and what is missing. It is no problem that stops anything, so there is no advice."""
    holds = [LIMITS]
    holds += [CALLS] if confinement.has_seccomp else []
    holds += [FILES] if confinement.landlock else []
    sentences = [f"Files and pages of strangers are parsed apart: {', '.join(holds)}."]
    if not is_linux:
        sentences.append("This system has no more.")
    elif not confinement.has_seccomp:
        sentences.append(WITHOUT_CALLS)
    elif not confinement.landlock:
        sentences.append(WITHOUT_FILES)
    return Check("parsers", " ".join(sentences))
