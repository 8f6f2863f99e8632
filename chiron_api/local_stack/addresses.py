"""Where the HTTP API of this home answers."""

from chiron_api.local_stack.ports import web_address
from chiron_api.local_stack.programs import Kind
from chiron_api.local_stack.readiness import answers_health_check
from chiron_api.local_stack.stack import LocalStack
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
