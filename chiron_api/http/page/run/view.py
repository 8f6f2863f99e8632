"""A run: what it is doing, and why."""

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from chiron_api.acts.inputs import Input
from chiron_api.acts.runs import TURNS_MAX, Message, Turns, show_timeline
from chiron_api.http.dependencies import services_of
from chiron_api.http.page.addresses import flower_address, path_id, read_query
from chiron_api.http.page.forms import Form
from chiron_api.http.page.live import Frame, Part, live_parts
from chiron_api.http.page.rendering import HEADERS, page, render
from chiron_api.http.page.rows.table import RowTable
from chiron_api.http.page.rows.table import load as load_rows
from chiron_api.http.page.rows.view import rows_part
from chiron_api.http.page.run import story
from chiron_api.http.page.run.story import Story
from chiron_api.http.page.run.waterfall import ROWS, Waterfall, waterfall_of
from chiron_api.http.page.shared_views import SharedReads
from chiron_api.http.page.views import view
from chiron_api.http.problems import Problem
from chiron_api.views.batches import cost_to_finish_of
from chiron_workers.batches.cost_to_finish import CostToFinish
from chiron_workers.batches.summaries import RunSummary, run_summary, summary

MESSAGE = Form(Message)
NO_CALL = "This call is not here (any more): it runs still, or its run was pruned."
TOKEN_CHARS = 4  # of English; the server says how many tokens a reply has once it is complete


class Options(Input):
    """The query string: the page of the story that ends before an event, and the turns of the waterfall."""

    before: Annotated[int, Field(ge=1, le=story.NEWEST)] = story.NEWEST
    first: Annotated[int, Field(ge=1, le=TURNS_MAX)] = 1
    last: Annotated[int, Field(ge=1, le=TURNS_MAX)] = TURNS_MAX

    @property
    def turns(self) -> Turns:
        """The turns, in as many rows as the page has."""
        return Turns(rows=ROWS, first=self.first, last=self.last)


class Position(Input):
    """How far the story stands on the page already."""

    after: Annotated[int, Field(ge=0, le=story.NEWEST)] = 0


@dataclass(frozen=True, slots=True)
class RunLook:
    """The state that all viewers of a run share. Each viewer has read its story up to a seq of its own, mostly the same."""

    run: RunSummary
    cost_to_finish: CostToFinish | None
    table: RowTable | None
    waterfall: Waterfall
    stories: SharedReads[Story]


async def show_run(request: Request) -> Response:
    """The run with the last page of its story."""
    pool, run_id = services_of(request).pool, path_id(request)
    options = read_query(request, Options)
    run = await run_summary(pool, run_id)
    latest_story = await story.load(pool, run_id, before=options.before)
    is_newest = options.before == story.NEWEST
    return page(
        request,
        "run/page.html",
        section="/runs",
        run=run,
        cost_to_finish=await cost_to_finish_of(pool, run),
        message=MESSAGE,
        batch=await summary(pool, run.batch_id),
        table=await load_rows(pool, run_id, path=f"/runs/{run_id}"),
        waterfall=waterfall_of(await show_timeline(services_of(request), run_id, options.turns)),
        is_part=(options.first, options.last) != (1, TURNS_MAX),
        story=latest_story,
        is_newest=is_newest,
        is_live=is_newest and not run.state.is_final and (options.first, options.last) == (1, TURNS_MAX),
        shown_after=latest_story.last_seq - story.EVENTS_PER_PAGE if is_newest else story.NEWEST,
        flower_address=flower_address(request),
    )


async def live_run(request: Request) -> Response:
    """The head of a run as it changes, and what joins its story."""
    pool, run_id = services_of(request).pool, path_id(request)
    after = [read_query(request, Position).after]

    async def load() -> RunLook:
        stories = SharedReads(lambda seq: story.load(pool, run_id, after=seq))
        run = await run_summary(pool, run_id)
        cost = await cost_to_finish_of(pool, run)
        timeline = await show_timeline(services_of(request), run_id, Turns(rows=ROWS))
        table = await load_rows(pool, run_id, path=f"/runs/{run_id}")
        return RunLook(run, cost, table, waterfall_of(timeline), stories)

    async def draw(look: RunLook) -> Frame:
        run, news = look.run, await look.stories.get(after[0])
        after[0] = news.last_seq
        head = {"run": run, "cost_to_finish": look.cost_to_finish, "message": MESSAGE}
        parts = [Part("head", render(request, "run/head.html", head))]
        parts += rows_part(request, look.table, with_topic=False)
        shown_after = news.last_seq - story.EVENTS_PER_PAGE
        drawing = {"waterfall": look.waterfall, "run": run, "shown_after": shown_after, "is_part": False}
        for target in ("times", "bars", "figures"):
            parts.append(Part(target, render(request, f"run/{target}.html", drawing).strip()))
        for call in news.ended:
            line = render(request, "run/line.html", {"call": call, "run": run})
            parts.append(Part(f"c{call.seq}", line.strip(), words=f"{call.name} is back."))
        if news.turns:
            html = render(request, "run/turns.html", {"story": news, "run": run})
            parts.append(Part("story", html, "append", f"{len(news.turns)} new steps."))
        return Frame(tuple(parts), is_last=run.state.is_final)

    def draw_reply(chars: int) -> Part:
        return Part("reply", render(request, "run/reply.html", {"tokens": chars // TOKEN_CHARS}).strip())

    return live_parts(request, ("run", run_id), load, draw, draw_reply=draw_reply, run_id=run_id)


async def show_call(request: Request) -> Response:
    """A call with its arguments and its result as they were."""
    pool, run_id = services_of(request).pool, path_id(request)
    run = await run_summary(pool, run_id)
    call = await story.load_call(pool, run_id, request.path_params["call_id"])
    if call is None:
        raise Problem(HTTPStatus.NOT_FOUND, NO_CALL)
    arguments = json.dumps(call["arguments"], indent=2, ensure_ascii=False)
    return page(request, "run/call.html", section="/runs", run=run, call=call, arguments=arguments)


async def download_result(request: Request) -> Response:
    """The whole result of a call, as a text to save."""
    pool, run_id = services_of(request).pool, path_id(request)
    await run_summary(pool, run_id)
    result = await story.load_result(pool, run_id, request.path_params["call_id"])
    if result is None:
        raise Problem(HTTPStatus.NOT_FOUND, NO_CALL)
    headers = HEADERS | {"Content-Disposition": 'attachment; filename="result.txt"'}
    return PlainTextResponse(result, headers=headers)


routes = [
    view("/runs/{id}", show_run),
    view("/runs/{id}/live", live_run),
    view("/runs/{id}/calls/{call_id}", show_call),
    view("/runs/{id}/calls/{call_id}/result", download_result),
]
