import os
import re
from collections.abc import Mapping

from chiron_workers.errors import ConfigurationError
from chiron_workers.mcp_client.config.redaction import secrets_of

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class Expander:
    """Replaces `${NAME}` and `${NAME:-default}` in the values of one server by environment variables.

    `secrets` collects the values of variables and tables, except for plainly harmless ones.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self.secrets: list[str] = []

    def __call__(self, field: str, text: str) -> str:
        """The text with the values of its variables. Raises ConfigurationError, which names the field and a variable not set."""

        def replace(match: re.Match[str]) -> str:
            name, default = match.groups()
            value: str | None = os.environ.get(name) or default
            if value is None:
                raise ConfigurationError(
                    f"{self._owner}, {field}: the environment variable {name} is not set."
                )
            self.secrets += secrets_of(name, value)
            return value

        return VARIABLE.sub(replace, text)

    @staticmethod
    def without_values(text: str) -> str:
        """The text with the names of its variables, without defaults: for people."""
        return VARIABLE.sub(r"${\1}", text)

    def table(self, field: str, values: Mapping[str, str]) -> dict[str, str]:
        """Expand each value of a table, such as `env`. Raises ConfigurationError."""
        table = {name: self(f"{field}.{name}", value) for name, value in values.items()}
        for name, value in table.items():
            self.secrets += secrets_of(name, value)
        return table
