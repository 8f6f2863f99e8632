"""YAML of files that others wrote: without aliases, by which a few lines stand for billions of values."""

from collections.abc import Callable
from typing import Any

import yaml
from yaml.composer import Composer


class WithoutAliases(Composer):
    """Refuses a document with an alias. Put it before a loader of the library."""

    check_event: Callable[..., bool]  # of the loader's parser

    def compose_node(self, parent: Any, index: Any) -> Any:
        """The next node. Raises YAMLError where it is an alias."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


class AliasFreeLoader(WithoutAliases, yaml.SafeLoader):
    """The library's safe loader, without aliases."""
