"""Where runs look for sources: which search providers are on, and why others that are named are not."""

from chiron_api.local_stack.checks.check import Check
from chiron_workers.settings import OFFLINE_MODEL, Settings

WEB = "For the web name a provider in CHIRON_SEARCH (auto,duckduckgo needs no key) or give one its key; see docs/web.md."


def search_checks(settings: Settings) -> list[Check]:
    """One check for what is on, and one for each provider that is named and cannot be asked."""
    from chiron_workers.search_providers import select_providers

    on, off = select_providers(settings)
    problems = [Check("search", f"{name} is off. {reason}", _advice(name)) for name, reason in off.items()]
    if not on:
        return [*problems, Check("search", "No search provider is on.", "Set CHIRON_SEARCH=auto.")]
    found = f"Asked for sources: {', '.join(provider.name for provider in on)}."
    searches_web = any(
        not one.is_local and (one.name != "claude" or settings.model.startswith("claude")) for one in on
    )
    if settings.model != OFFLINE_MODEL and not searches_web:
        found = f"{found} {WEB}"
    return [*problems, Check("search", found)]


def _advice(name: str) -> str:
    return f"Mend it, or take {name} out of CHIRON_SEARCH."
