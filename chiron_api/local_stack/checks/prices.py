"""What hosted services charge: whether the price of each that is asked is known."""

from chiron_api.local_stack.checks import Check
from chiron_workers.billing.services import embedding_service
from chiron_workers.settings import Settings

ORDER = 71


def checks(settings: Settings) -> list[Check]:
    """One check for each hosted service whose price is unknown."""
    from chiron_workers.search_providers import select_providers
    from chiron_workers.search_providers.services import service_of, unpriced_services

    if services := unpriced_services(settings, [settings.model]):
        return [
            Check(
                "prices",
                f"The price of {service.name} is not known: where a budget in USD binds, it is not asked.",
                service.advice(),
            )
            for service in services
        ]
    providers, _ = select_providers(settings)
    priced_services = [
        embedding_service(settings),
        *(service_of(provider, settings) for provider in providers),
    ]
    names = ", ".join(service.name for service in priced_services if service is not None)
    return [Check("prices", f"The prices of all hosted services are known: {names}.")] if names else []
