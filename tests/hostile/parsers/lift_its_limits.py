"""Takes off a limit that binds it."""

import resource


def attempt(folder: str) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
