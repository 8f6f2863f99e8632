"""All acts there are, found in the modules of this package."""

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any

from chiron_api import acts
from chiron_api.acts.act import Act


@cache
def acts_by_module() -> dict[str, list[Act[..., Any]]]:
    """The acts of each module that declares any, in their order."""
    names = sorted(module.name for module in pkgutil.iter_modules(acts.__path__))
    modules = {name: importlib.import_module(f"{acts.__name__}.{name}") for name in names}
    declared = {
        name: [entry for entry in vars(module).values() if _is_act_of(module, entry)]
        for name, module in modules.items()
    }
    return {name: entries for name, entries in declared.items() if entries}


def _is_act_of(module: ModuleType, entry: object) -> bool:
    # An act that the module imports belongs to another one.
    return isinstance(entry, Act) and entry.function.__module__ == module.__name__


def all_acts() -> list[Act[..., Any]]:
    """Every act."""
    return [act for entries in acts_by_module().values() for act in entries]
