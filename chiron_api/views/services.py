from collections.abc import Iterable

from chiron_workers.batches.submit import NewRun
from chiron_workers.settings import Settings


def service_warnings(settings: Settings, runs: Iterable[NewRun]) -> list[str]:
    """Warn about each hosted service that runs would call and whose price is unknown.

    Services and prices are those of the settings of this process; workers may have others.
    """
    from chiron_workers.search_providers.services import unpriced_services

    return [
        f"The price of {service.name} is not known: runs that a budget in USD binds do not ask it, and what others spend is "
        f"unknown. {service.advice()}"
        for service in unpriced_services(settings, {run.model for run in runs})
    ]
