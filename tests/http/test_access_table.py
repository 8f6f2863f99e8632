"""Who may request what: each route of the table of rights, with each scope, of the owner and of a stranger."""

import asyncio
from dataclasses import dataclass
from uuid import uuid4

import httpx2
import pytest
from support.course import course_of_three
from support.research_rows import Shelf

from chiron_api.rights import OPERATIONS, TOOL_ROUTE
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.states import AccessScope

ROUTES = sorted(
    (face, operation)
    for operation in OPERATIONS
    for face in operation.faces
    if face.split(" ")[1].startswith("/") and not face.endswith(" /mcp")
)
BATCH = {"subject": "Sea ice", "topics": ["What is a polynya?"], "model": "offline"}
SUBSCRIPTION = {"subject": "Sea ice", "topics": ["Extent"], "model": "offline"}
Headers = dict[str, str]


@dataclass(frozen=True, slots=True)
class Callers:
    """The headers of a key of each scope, of the owner and of a stranger."""

    owner: dict[AccessScope, Headers]
    stranger: dict[AccessScope, Headers]


@pytest.fixture
async def callers(pool: Pool) -> Callers:
    async def keys(owner: str) -> dict[AccessScope, Headers]:
        made = {
            scope: await create_key(pool, NewKey(f"{owner}-{scope}", scope, owner)) for scope in AccessScope
        }
        return {scope: {"Authorization": f"Bearer {secret}"} for scope, (secret, _) in made.items()}

    return Callers(await keys("alice"), await keys("bob"))


@pytest.mark.parametrize("scope", [None, *AccessScope], ids=lambda scope: scope or "everybody")
async def test_every_route_answers_as_the_table_says_to_each_scope_of_owner_and_stranger(
    api: httpx2.AsyncClient, callers: Callers, shelf: Shelf, scope: AccessScope | None
):
    course_of_three(shelf)
    surprises = []
    for n, (route, operation) in enumerate(ROUTES):
        method, path = route.split(" ")
        # `list_subjects` stands for the tools, and reads.
        if (AccessScope.READ if route == TOOL_ROUTE else operation.scope) is not scope:
            continue
        target = await _path(api, path, n, callers.owner[AccessScope.SUBMIT])
        for who, keys in (("owner", callers.owner), ("stranger", callers.stranger)):
            for key_scope, headers in keys.items():
                status = await _status(api, method, target, headers)
                is_hidden = operation.is_owned and who == "stranger"
                expected = _expected(scope, key_scope, is_hidden=is_hidden)
                if (status in expected[1]) != expected[0]:
                    surprises.append(f"{route}: {status} to a {who} who may {key_scope}")
        nobody = await _status(api, method, target, {})
        if (nobody == 401) == (scope is None) and path != "/open":
            surprises.append(f"{route}: {nobody} to nobody")
    assert surprises == []


def _expected(
    scope: AccessScope | None, key_scope: AccessScope, *, is_hidden: bool
) -> tuple[bool, tuple[int, ...]]:
    """Whether the status is one of those, or none of them."""
    order = list(AccessScope)
    if scope is not None and order.index(key_scope) < order.index(scope):
        return True, (403,)
    if is_hidden and key_scope is not AccessScope.ADMIN:
        return True, (404,)
    return False, (401, 403, 500) if scope is not None else (403, 500)


async def _path(api: httpx2.AsyncClient, path: str, n: int, owner: Headers) -> str:
    """The path of something that the owner has just made, as the n-th."""
    target = str(uuid4())
    if "/batches/{id}" in path or "/runs/{id}" in path:
        receipt = (await api.post("/v1/batches", json=BATCH, headers=owner)).json()
        target = receipt["batch_id"] if "/batches/" in path else receipt["run_ids"][0]
    elif "/subscriptions/{id}" in path or "/schedules/{id}" in path:
        new = SUBSCRIPTION | {"cron": f"{n % 60} {n // 60} * * MON"}  # two alike are refused
        target = (await api.post("/v1/subscriptions", json=new, headers=owner)).json()["id"]
    elif "/webhooks/{id}" in path or "/deliveries/{id}" in path:
        webhook = {"url": "https://example.org/hook"}
        target = (await api.post("/v1/webhooks", json=webhook, headers=owner)).json()["id"]
        if "/deliveries/{id}" in path:
            target = (await api.post(f"/v1/webhooks/{target}/test", headers=owner)).json()["id"]
    elif "/journeys/{id}" in path:
        goal = {"goal": "Judge satellites", "model": "offline"}
        journey = await api.post(f"/v1/subjects/{uuid4()}/journey", json=goal, headers=owner)
        target = journey.json()["journey_id"]
    elif "/quizzes/{id}" in path:
        quiz = {"subject": "Sea ice", "count": 1}
        target = (await api.post("/v1/quizzes", json=quiz, headers=owner)).json()["quiz_id"]
    values = {"id": target, "call_id": "c", "hash": "h", "name": "list_subjects", "format": "md"}
    return path.format_map(values)


async def _status(api: httpx2.AsyncClient, method: str, path: str, headers: Headers) -> int:
    """The status alone, since some answers never end."""
    async with asyncio.timeout(30), api.stream(method, path, headers=headers) as answer:
        return answer.status_code
