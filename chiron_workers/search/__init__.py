"""Where sources are discovered: every module of this package that has a `search` is a provider."""

import importlib
import pkgutil
from functools import cache
from typing import cast

from chiron_workers.search.provider import Provider


@cache
def providers() -> tuple[Provider, ...]:
    """All providers; a module put beside this one is asked without another edit."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return tuple(cast("Provider", module) for module in modules if hasattr(module, "search"))
