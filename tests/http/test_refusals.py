"""What each act refuses over HTTP: an id of nothing, an id of the other kind, an option that it does not have."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

import httpx2
from support.research_rows import Shelf

from chiron_api.acts.act import Act
from chiron_api.acts.discovery import all_acts
from chiron_api.acts.inputs import Input
from chiron_workers.ids import new_id

VALUES = {"boolean": True, "array": ["x"], "date-time": "2026-01-01T00:00:00Z", "uuid": str(new_id())}


def least(model: type[Input] | None) -> dict[str, Any]:
    """The fields that an input has to have, with values that it takes."""
    schema = model.model_json_schema() if model else {}
    members = {name: schema["properties"][name] for name in schema.get("required", ())}
    return {
        name: member.get("enum", [VALUES.get(member.get("format", member.get("type")), "x")])[0]
        for name, member in members.items()
    }


async def sent(
    client: httpx2.AsyncClient, act: Act[..., Any], target: object, **more: object
) -> httpx2.Response:
    method, _, path = act.route.partition(" ")
    place = "params" if method in ("GET", "DELETE") else "json"
    options = {place: least(act.input_model) | more} if act.input_model else {}
    return await client.request(method, path.format(id=target, name=target), **options)  # type: ignore[arg-type]


async def test_every_act_answers_404_for_what_is_not_there(client: httpx2.AsyncClient, shelf: Shelf):
    batch = shelf.batch(shelf.subject("moon", "Moon"), "Nothing yet")
    run = shelf.run("moon", batch, "Topic")
    others = {"batches": run, "runs": batch}  # an id of the other kind
    surprises = []
    for act in all_acts():
        if HTTPStatus.NOT_FOUND not in act.problems or act.arguments.path is None:
            continue
        folder = act.route.split("/")[2]
        is_uuid = act.arguments.path.annotation is UUID
        targets = [
            "nonsense",
            *([new_id()] if is_uuid else []),
            *([others[folder]] if folder in others else []),
        ]
        for target in targets:
            answer = await sent(client, act, target)
            if (answer.status_code, answer.headers["content-type"]) != (404, "application/problem+json"):
                surprises.append(f"{act.route} {target}: {answer.status_code} {answer.text}")
    assert surprises == []


async def test_every_act_refuses_an_option_that_it_does_not_have(client: httpx2.AsyncClient):
    surprises = []
    for act in all_acts():
        if act.input_model:
            answer = await sent(client, act, new_id(), colour="red")
            if (answer.status_code, "colour" in answer.text) != (422, True):
                surprises.append(f"{act.route}: {answer.status_code} {answer.text}")
    assert surprises == []
