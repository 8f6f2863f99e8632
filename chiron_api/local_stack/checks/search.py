"""Where runs look for sources: which search providers are on, and why others that are named are not."""

from chiron_api.local_stack.checks import Check
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
    finding = f"Asked for sources: {', '.join(provider.name for provider in on)}."
    searches_web = any(
        not provider.is_local and (provider.name != "claude" or settings.model.startswith("claude"))
        for provider in on
    )
    if settings.model != OFFLINE_MODEL and not searches_web:
        finding = f"{finding} {WEB}"
    return [*problems, Check("search", finding)]
