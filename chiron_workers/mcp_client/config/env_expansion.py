import os
import re
from collections.abc import Mapping

from chiron_workers.errors import ConfigurationError
from chiron_workers.mcp_client.config.redaction import secrets_of, secrets_of_all

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class Expander:
    """Puts environment variables into the values of one server: `${NAME}`, or `${NAME:-default}`.

    `secrets` is what was put in for a variable, or stands in a table, but for what is plainly harmless.
    """

    def __init__(self, whose: str) -> None:
        self._whose = whose
        self.secrets: list[str] = []

    def __call__(self, field: str, text: str) -> str:
        """The text with its variables. Raises ConfigurationError, which names the field and a variable not set."""

        def value(found: re.Match[str]) -> str:
            name, default = found.groups()
            known = os.environ.get(name) or default
            if known is None:
                raise ConfigurationError(
                    f"{self._whose}, {field}: the environment variable {name} is not set."
                )
            self.secrets += secrets_of(name, known)
            return known

        return VARIABLE.sub(value, text)

    @staticmethod
    def unopened(text: str) -> str:
        """The text with its variables as names, without defaults: for people."""
        return VARIABLE.sub(r"${\1}", text)

    def table(self, field: str, values: Mapping[str, str]) -> dict[str, str]:
        """The same for each value of a table."""
        found = {name: self(f"{field}.{name}", value) for name, value in values.items()}
        self.secrets += secrets_of_all(found)
        return found
