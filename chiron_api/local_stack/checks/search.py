"""Where runs look for sources: which search providers are on, and why others that are named are not."""

from collections.abc import Sequence

from chiron_api.local_stack.checks import Check
from chiron_workers.search_providers.provider import Provider
from chiron_workers.settings import OFFLINE_MODEL, Settings

ORDER = 70
WEB = "For the web name a provider in CHIRON_SEARCH (auto,duckduckgo needs no key) or give one its key; see docs/web.md."


def checks(settings: Settings) -> list[Check]:
    """One check for what is on, and one for each provider that is named and cannot be asked."""
    from chiron_workers.search_providers import select_providers

    on, off = select_providers(settings)
    problems = [
        Check("search", f"{name} is off. {reason}", f"Mend it, or take {name} out of CHIRON_SEARCH.")
        for name, reason in off.items()
    ]
    if not on:
        return [*problems, Check("search", "No search provider is on.", "Set CHIRON_SEARCH=auto.")]
    return [*problems, _asked(on, settings.model)]


def _asked(on: Sequence[Provider], model: str) -> Check:
    """Those of the providers that runs of a model ask."""
    if model == OFFLINE_MODEL:
        names = ", ".join(provider.name for provider in on if provider.is_local)
        if not names:
            return Check(
                "search", "The offline researcher asks no provider of the web.", "Set CHIRON_SEARCH=auto."
            )
        return Check("search", f"Asked for sources: {names}. The offline researcher asks none of the web.")
    providers = [provider for provider in on if provider.name != "claude" or model.startswith("claude")]
    finding = f"Asked for sources: {', '.join(provider.name for provider in providers) or 'none'}."
    is_web_searched = any(not provider.is_local for provider in providers)
    return Check("search", finding if is_web_searched else f"{finding} {WEB}")
