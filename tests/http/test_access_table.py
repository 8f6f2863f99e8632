"""Who may call what: every route, with each scope, of the owner and of a stranger.

A new route belongs into one of the sets below; without that `test_every_route_is_in_the_table` fails.
"""

import asyncio
from dataclasses import dataclass
from uuid import uuid4

import httpx2
import pytest
from starlette.routing import Route
from support.course import course_of_three
from support.research_rows import Shelf

from chiron_api.http.app import build_app
from chiron_workers.access.keys import NewKey, create_key
from chiron_workers.db.connect import Pool
from chiron_workers.settings import Settings
from chiron_workers.states import AccessScope

EVERYBODY = {"GET /healthz", "GET /readyz", "GET /open", "POST /open", "GET /assets/{hash}/{name}"}
# What is shared by all who may read.
READ_SHARED = {
    "GET /v1/batches",
    "GET /v1/subscriptions",
    "GET /v1/webhooks",
    "GET /v1/facts/{id}",
    "GET /v1/rechecks/{id}",
    "GET /v1/subjects",
    "GET /v1/subjects/{id}/diff",
    "GET /v1/subjects/{id}/report",
    "GET /v1/subjects/{id}/lessons",
    "GET /v1/subjects/{id}/map",
    "GET /v1/subjects/{id}/journey",
    "GET /v1/journeys",
    "GET /v1/subjects/{id}/progress",
    "GET /v1/subjects/{id}/proposals",
    "GET /v1/lessons/{id}",
    "GET /lessons/{id}",
    "GET /lessons/{id}/lesson.{format}",
    "GET /v1/tools",
    "GET /v1/skills",
    "POST /v1/knowledge/search",
    "GET /",
    "GET /live",
    "GET /batches",
    "GET /facts/{id}",
    "GET /submit",
    "GET /quizzes",
    "GET /subjects",
    "GET /subjects/{id}",
    "GET /subjects/{id}/sources",
    "GET /subjects/{id}/learn",
    "GET /subjects/{id}/changes",
    "GET /subjects/{id}/report",
    "GET /subjects/{id}/report.{format}",
    "GET /search",
    "GET /system",
    "GET /deliveries",
    "GET /system/live",
    "GET /docs",
    "GET /openapi.json",
    "GET /metrics",
    "GET /v1/runs",
    "GET /v1/subjects/{id}",
    "GET /v1/subjects/{id}/documents",
    "GET /v1/subjects/{id}/facts",
    "POST /submit/estimate",
    "POST /close",
}
# What is there for its owner and for admins alone.
READ_OWN = {
    "GET /v1/batches/{id}",
    "GET /v1/batches/{id}/results",
    "GET /v1/batches/{id}/rows",
    "GET /v1/batches/{id}/events",
    "GET /v1/batches/{id}/report",
    "GET /v1/runs/{id}",
    "GET /v1/runs/{id}/events",
    "GET /v1/runs/{id}/report",
    "GET /v1/runs/{id}/rows",
    "GET /v1/subscriptions/{id}",
    "GET /v1/subscriptions/{id}/times",
    "GET /v1/webhooks/{id}",
    "GET /v1/webhooks/{id}/deliveries",
    "GET /v1/quizzes/{id}",
    "GET /quizzes/{id}",
    "GET /batches/{id}",
    "GET /batches/{id}/rows",
    "GET /batches/{id}/live",
    "GET /runs/{id}",
    "GET /runs/{id}/rows",
    "GET /runs/{id}/live",
    "GET /runs/{id}/calls/{call_id}",
    *(f"GET /{noun}/{{id}}/report{ending}" for noun in ("batches", "runs") for ending in ("", ".{format}")),
}
SUBMIT_SHARED = {
    "POST /v1/batches",
    "POST /v1/subscriptions",
    "POST /v1/webhooks",
    "POST /v1/facts/{id}/withdraw",
    "POST /v1/facts/{id}/reinstate",
    "POST /v1/subjects/{id}/check",
    "POST /v1/subjects/{id}/curriculum",
    "POST /v1/subjects/{id}/journey",
    "POST /v1/subjects/{id}/research",
    "POST /v1/subjects/{id}/questions",
    "POST /v1/proposals/{id}/decide",
    "POST /v1/quizzes",
    "POST /subjects/{id}/questions",
    "POST /quizzes",
    "POST /v1/subjects/{id}/recheck",
    "POST /v1/subjects/{id}/report",
    "POST /v1/subjects/{id}/lessons",
    "POST /v1/tools/{name}",
    "POST /facts/{id}/withdraw",
    "POST /facts/{id}/reinstate",
    "POST /subjects",
    "POST /subjects/{id}/goal",
    "POST /subjects/{id}/curriculum",
    "POST /subjects/{id}/journey",
    "POST /subjects/{id}/research",
    "POST /proposals/{id}/decide",
    "POST /subjects/{id}/documents",
    "POST /subjects/{id}/report",
    "POST /subjects/{id}/lessons",
    "POST /v1/runs",
    "POST /v1/subjects/{id}/documents",
    "POST /subjects/{id}/recheck",
    "POST /submit",
}
SUBMIT_OWN = {
    *(f"POST {prefix}/{noun}/{{id}}/{verb}" for prefix in ("/v1", "") for noun in ("batches", "runs")
      for verb in ("cancel", "pause", "resume", "retry")),
    "DELETE /v1/batches/{id}",
    "DELETE /v1/runs/{id}",
    "POST /v1/batches/{id}/report",
    "POST /v1/runs/{id}/report",
    "POST /v1/runs/{id}/messages",
    "POST /runs/{id}/say",
    "POST /batches/{id}/report",
    "POST /runs/{id}/report",
    "DELETE /v1/subscriptions/{id}",
    "POST /v1/subscriptions/{id}/pause",
    "POST /v1/subscriptions/{id}/resume",
    "DELETE /v1/webhooks/{id}",
    "POST /v1/webhooks/{id}/test",
    "POST /v1/deliveries/{id}/resend",
    "POST /deliveries/{id}/resend",
    *(f"POST {prefix}/journeys/{{id}}/{verb}" for prefix in ("/v1", "") for verb in ("read", "resume", "stop")),
    *(f"POST {prefix}/quizzes/{{id}}/{verb}" for prefix in ("/v1", "") for verb in ("answers", "settlements")),
}  # fmt: skip
ADMIN = {
    "POST /v1/keys",
    "GET /v1/keys",
    "DELETE /v1/keys/{name}",
    "GET /v1/audit",
    "GET /keys",
    "POST /keys",
    "POST /keys/{name}/revoke",
}
SCOPES = {
    None: EVERYBODY,
    AccessScope.READ: READ_SHARED | READ_OWN,
    AccessScope.SUBMIT: SUBMIT_SHARED | SUBMIT_OWN,
    AccessScope.ADMIN: ADMIN,
}
OWNED = READ_OWN | SUBMIT_OWN
TABLE = sorted((route, scope, route in OWNED) for scope, routes in SCOPES.items() for route in routes)  # type: ignore[type-var]
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


def test_every_route_is_in_the_table(settings: Settings):
    routes = {
        f"{method} {route.path}"
        for route in build_app(settings).routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    table = {route for route, _, _ in TABLE}
    assert sorted(routes - table) == []
    assert sorted(table - routes) == []
    assert len(TABLE) == len(routes), "a route is in two sets"


@pytest.mark.parametrize("scope", SCOPES, ids=lambda scope: scope or "everybody")
async def test_every_route_answers_as_the_table_says_to_each_scope_of_owner_and_stranger(
    api: httpx2.AsyncClient, callers: Callers, shelf: Shelf, scope: AccessScope | None
):
    course_of_three(shelf)
    surprises = []
    for n, (route, least, is_owned) in enumerate(TABLE):
        if least is not scope:
            continue
        method, path = route.split(" ")
        target = await _path(api, path, n, callers.owner[AccessScope.SUBMIT])
        for who, keys in (("owner", callers.owner), ("stranger", callers.stranger)):
            for key_scope, headers in keys.items():
                status = await _status(api, method, target, headers)
                expected = _expected(scope, key_scope, is_hidden=is_owned and who == "stranger")
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
    elif "/subscriptions/{id}" in path:
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
