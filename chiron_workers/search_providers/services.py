"""Which search providers are hosted services that charge for a call."""

from collections.abc import Iterable

from chiron_workers.billing.services import Service, embedding_service
from chiron_workers.search_providers import select_providers
from chiron_workers.search_providers.provider import Provider
from chiron_workers.settings import OFFLINE_MODEL, Settings


def service_of(provider: Provider, settings: Settings) -> Service | None:
    """The service that a search of a provider is paid to; None where it costs nothing by itself."""
    return None if provider.is_free else Service.of(provider.name, settings.service_prices)


def unpriced_services(settings: Settings, models: Iterable[str]) -> list[Service]:
    """The hosted services that runs of these models ask, and of which nobody knows what they charge."""
    services = [embedding_service(settings)]
    if any(model != OFFLINE_MODEL for model in models):
        services += [service_of(provider, settings) for provider in select_providers(settings)[0]]
    return [service for service in services if service is not None and service.is_unknown]
