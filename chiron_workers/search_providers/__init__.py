"""Where sources are discovered: every module of this package that has a `search` is a provider."""

import importlib
import pkgutil
from functools import cache

from chiron_workers.errors import ConfigurationError, ToolRegistrationError
from chiron_workers.search_providers.provider import Provider, provider_from_module
from chiron_workers.settings import Settings
from chiron_workers.toolkit.loading import module_named

AUTO = "auto"


@cache
def providers() -> dict[str, Provider]:
    """All providers of this package by name; a module put beside this one is one without another edit."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = {
        name: provider_from_module(name, importlib.import_module(f"{__name__}.{name}")) for name in names
    }
    return {name: provider for name, provider in found.items() if provider}


def select_providers(known: Settings) -> tuple[list[Provider], dict[str, str]]:
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
        module = module_named(name)
    except ToolRegistrationError as error:
        cause = error.__cause__
        return f"It cannot be loaded: {f'{type(cause).__name__}: {cause}' if cause else error}"
    return provider_from_module(name, module) or "It has no function `search`."
