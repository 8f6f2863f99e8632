"""Where the HTTP API of this home answers."""

from urllib.parse import urlencode

from chiron_api.local_stack.access import api_key
from chiron_api.local_stack.ports import web_address
from chiron_api.local_stack.programs import Kind
from chiron_api.local_stack.readiness import answers_health_check
from chiron_api.local_stack.stack import LocalStack
from chiron_workers.access.sessions import create_code
from chiron_workers.db.connect import open_pool
from chiron_workers.errors import ServiceUnavailable
from chiron_workers.settings import Settings, read_settings


def running_api(settings: Settings) -> str:
    """The address of the API that answers: that of the local stack, or the one that the settings name.

    Raises:
        ServiceUnavailable: None answers.
    """
    addresses = [part.address for part in LocalStack(read_settings()).parts() if part.kind is Kind.API]
    address = addresses[0] if addresses else web_address(settings.api_host, settings.api_port)
    if not answers_health_check(Kind.API, address):
        raise ServiceUnavailable(
            f"No HTTP API answers at {address}. `chiron up` starts everything, `chiron api` the API alone."
        )
    return address


async def page_link(settings: Settings, address: str) -> str:
    """A link to the page of an API that signs in whoever opens it: it works once, within five minutes."""
    if not api_key(settings):
        return f"{address}/"
    async with open_pool(settings.database_url, size=1) as pool:
        return f"{address}/open?{urlencode({'code': await create_code(pool)})}"
