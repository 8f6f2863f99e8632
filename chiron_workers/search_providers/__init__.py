"""Search providers: every module of this package with a function `search` is one.

A new provider is one new file here and no other edit. `provider.py` says what its module may define; `http.py` helps to
ask a service.
"""

import importlib
import pkgutil
from functools import cache

from chiron_workers.errors import ToolRegistrationError
from chiron_workers.search_providers.provider import Provider, provider_from_module
from chiron_workers.settings import Settings
from chiron_workers.toolkit.loading import module_named

AUTO = "auto"


@cache
def providers() -> dict[str, Provider]:
    """All providers of this package, by the names of their modules."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    candidates = {
        name: provider_from_module(name, importlib.import_module(f"{__name__}.{name}")) for name in names
    }
    return {name: provider for name, provider in candidates.items() if provider}


def select_providers(config: Settings) -> tuple[list[Provider], dict[str, str]]:
    """The providers that CHIRON_SEARCH turns on, and by name the reasons why others that it names stay off."""
    providers_by_name: dict[str, Provider] = {}
    reasons: dict[str, str] = {}
    for name in [part.strip() for part in config.search.split(",") if part.strip()]:
        if name == AUTO:
            defaults = (provider for provider in providers().values() if provider.is_default)
            providers_by_name |= {item.name: item for item in defaults if not item.missing(config)}
            continue
        provider = _provider_named(name)
        if reason := provider if isinstance(provider, str) else provider.missing(config):
            reasons[name] = reason
        elif isinstance(provider, Provider):  # else it is the reason
            providers_by_name[provider.name] = provider
    return list(providers_by_name.values()), reasons


@cache
def _provider_named(name: str) -> Provider | str:
    """A provider of ours or of the user, or why it cannot be had; cached, so that a user's module runs once."""
    if name in providers():
        return providers()[name]
    if "/" not in name and "." not in name:
        return (
            f"No provider has this name. There are {', '.join(sorted(providers()))}; "
            "a provider of your own is named by its module or file."
        )
    try:
        module = module_named(name)
    except ToolRegistrationError as error:
        cause = error.__cause__
        return f"It cannot be loaded: {f'{type(cause).__name__}: {cause}' if cause else error}"
    return provider_from_module(name, module) or "It has no function `search`."
