"""The health of the fleet (workers, Redis, the queue) and the cost of the day."""

from chiron_api.acts.act import Noun
from chiron_api.answers.fleet import Fleet
from chiron_api.services import Services

FLEET = Noun("Health")


@FLEET.act("service.fleet", "GET /v1/health", "How is the installation?", client="fleet")
async def show_fleet(services: Services) -> Fleet:
    """Workers alive, Redis, how long runs wait, and money today: the line that every page shows, a second old at most."""
    return Fleet.model_validate(await services.fleet())
