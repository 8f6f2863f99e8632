"""What a declaration gives an act: its entry in the audit trail, and arguments that are checked."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import model_validator

from chiron_api.acts.act import Noun, Target, ToolFace
from chiron_api.acts.inputs import Flag, Input
from chiron_api.answers.basics import Answer
from chiron_api.mcp_server.act_tools import ActTool
from chiron_api.services import Services
from chiron_workers.access.audit import newest_entries
from chiron_workers.db.connect import Pool
from chiron_workers.embeddings import Embedder
from chiron_workers.errors import ToolValidationError
from chiron_workers.pubsub.streams import Streams
from chiron_workers.settings import Settings
from chiron_workers.worker.fleet import SharedFleet

BOATS = Noun("Boats", Target("boat"))


class Boat(Answer):
    """A boat."""

    name: str


class Trip(Input):
    """Where a boat goes."""

    port: str = "Turku"
    returns: Flag = False

    @model_validator(mode="after")
    def _require_other_port(self) -> "Trip":
        if self.port == "Hel":
            raise ValueError("Hel has no port")
        return self


HOME = Trip()


@BOATS.act(
    "boats.sail",
    "POST /v1/boats/{id}/sail",
    "Sail",
    client="sail",
    tool=ToolFace("sail", "boat_id", "The boat."),
)
async def sail(services: Services, id: str, body: Trip = HOME) -> Boat:
    """Sail."""
    return Boat(name=f"{id} to {body.port}")


@pytest.mark.parametrize(
    ("call", "detail"),
    [
        (lambda services: sail.command(services, "ada"), {}),
        (lambda services: sail.command(services, "ada", Trip(returns=True)), {"returns": True}),
        (lambda services: sail.command(services, id="ada", body=Trip(returns=True)), {"returns": True}),
        (lambda services: sail.command(services, "ada", body=Trip(port="Oslo")), {}),
    ],
)
async def test_the_audit_trail_has_the_arguments_of_a_command_however_they_are_passed(
    call: Callable[[Services], Any],
    detail: dict[str, bool],
    pool: Pool,
    settings: Settings,
    embedder: Embedder,
):
    services = Services(
        settings, pool, lambda: embedder, Streams(pool, settings.redis_url), SharedFleet(pool, settings)
    )
    await call(services)
    [entry] = await newest_entries(pool, limit=10)
    assert (entry.action, entry.target, entry.detail) == ("boats.sail", "ada", {"via": "command"} | detail)


def test_a_tool_of_an_act_runs_the_validators_of_its_input():
    assert sail.tool
    tool = ActTool(sail, sail.tool)
    assert tool.validate({"boat_id": "ada", "port": "Oslo"}) == {"id": "ada", "body": Trip(port="Oslo")}
    with pytest.raises(ToolValidationError, match="Hel has no port"):
        tool.validate({"boat_id": "ada", "port": "Hel"})
    with pytest.raises(ToolValidationError, match="boat_id: must be a string of 1 to 200 characters"):
        tool.validate({"boat_id": ""})


def test_an_act_is_of_its_noun_unless_it_names_another_target():
    assert (sail.target, sail.heading) == (BOATS.target, "Boats")
    port = Target("port")
    declared = BOATS.act("ports.read", "GET /v1/ports/{id}", "Show", client="port", target=port)(
        sail.function
    )
    assert (declared.target, declared.operation.changes) == (port, False)
