"""Settings as environment variables, for a program that is to read back these very values; so no secret is in an argv."""

import json
import os
from pathlib import Path

from pydantic import BaseModel, SecretStr

from chiron_workers.settings import Settings


def process_environment(settings: Settings, **overrides: str) -> dict[str, str]:
    """This process's environment with the settings that were set explicitly, for a process of ours.

    The project is always among them: a part may run in another folder than the command that starts it.
    """
    names = settings.model_fields_set | {"project"}
    values = {name: _text(getattr(settings, name)) for name in names} | overrides
    variables = {f"CHIRON_{name.upper()}": value for name, value in values.items()}
    spelled = {name.lower() for name in variables}  # pydantic-settings takes a name in any spelling
    return {name: text for name, text in os.environ.items() if name.lower() not in spelled} | variables


def _text(value: object) -> str:
    if isinstance(value, tuple):  # of folders
        return os.pathsep.join(str(_plain(part)) for part in value)
    plain = _plain(value)
    return json.dumps(plain) if isinstance(plain, dict | list) else str(plain)


def _plain(value: object) -> object:
    """A value as JSON would have it; a secret as what it hides."""
    match value:
        case SecretStr():
            return value.get_secret_value()
        case BaseModel():
            return value.model_dump(mode="json", exclude_none=True)
        case Path():
            return str(value.absolute())
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case list():
            return [_plain(part) for part in value]
    return value
