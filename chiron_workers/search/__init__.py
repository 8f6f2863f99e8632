"""Where sources are discovered: every module of this package that has a `search` is a provider."""

import importlib
import importlib.util
import pkgutil
from functools import cache
from pathlib import Path
from types import ModuleType

from chiron_workers.errors import ConfigurationError
from chiron_workers.search.provider import Provider, provider_of
from chiron_workers.settings import Settings

AUTO = "auto"


@cache
def providers() -> dict[str, Provider]:
    """All providers of this package by name; a module put beside this one is one without another edit."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = {name: provider_of(name, importlib.import_module(f"{__name__}.{name}")) for name in names}
    return {name: provider for name, provider in found.items() if provider}


def chosen(known: Settings) -> tuple[list[Provider], dict[str, str]]:
    """The providers that CHIRON_SEARCH turns on, and why others that it names stay off: a sentence by name."""
    on: dict[str, Provider] = {}
    off: dict[str, str] = {}
    for name in [part.strip() for part in known.search.split(",") if part.strip()]:
        if name == AUTO:
            usual = (one for one in providers().values() if one.is_usual and not one.missing(known))
            on |= {one.name: one for one in usual}
            continue
        try:
            provider = _named(name)
        except ConfigurationError as error:
            off[name] = str(error)
            continue
        if lack := provider.missing(known):
            off[name] = lack
        else:
            on[provider.name] = provider
    return list(on.values()), off


def _named(name: str) -> Provider:
    if name in providers():
        return providers()[name]
    if "/" in name or "." in name:
        return _own(name)
    raise ConfigurationError(
        f"No provider has this name. There are {', '.join(sorted(providers()))}; "
        "a provider of your own is named by its module or file."
    )


def _own(name: str) -> Provider:
    found = _loaded(name)
    if isinstance(found, str):
        raise ConfigurationError(found)
    return found


@cache
def _loaded(name: str) -> Provider | str:
    """A provider of the user's, or why there is none; its module runs once, whatever comes of it."""
    try:
        module = _module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # what a user's module does must stop neither a search nor the doctor
        return f"It cannot be loaded: {type(error).__name__}: {error}"
    return provider_of(name, module) or "It has no function `search`."


def _module(name: str) -> ModuleType:
    if "/" not in name and not name.endswith(".py"):
        return importlib.import_module(name)
    file = Path(name).expanduser()
    spec = importlib.util.spec_from_file_location(f"chiron_search_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
