import os
import re
from collections.abc import Mapping

from chiron_workers.errors import ConfigurationError
from chiron_workers.mcp_client.redaction import names_secret, secret_values

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class Expander:
    """Puts environment variables into the values of one server: `${NAME}`, or `${NAME:-default}`.

    `secrets` is what was put in for a variable, or into one, whose name tells that it holds a secret.
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
            if names_secret(name):
                self.secrets.append(known)
            return known

        return VARIABLE.sub(value, text)

    def table(self, field: str, values: Mapping[str, str]) -> dict[str, str]:
        """The same for each value of a table."""
        found = {name: self(f"{field}.{name}", value) for name, value in values.items()}
        self.secrets += secret_values(found)
        return found
