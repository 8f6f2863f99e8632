"""What is known, as resources that MCP clients read by address: facts, runs, batches, reports, maps and lessons."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager

import psycopg
from fastmcp.exceptions import ResourceError
from fastmcp.resources.template import ResourceTemplate

from chiron_api.acts.reports import report_on
from chiron_api.mcp_server.act_tools import calling, current_services
from chiron_api.mcp_server.callers import current_principal, with_remedies
from chiron_api.mcp_server.lazy_services import DATABASE_AWAY, LazyServices
from chiron_api.mcp_server.lessons import list_lessons
from chiron_api.mcp_server.reports import MARKDOWN as MARKDOWN_REPORT
from chiron_api.mcp_server.reports import visible_target
from chiron_api.mcp_server.research import describe
from chiron_api.reports.lessons.formats import LessonFormat
from chiron_api.reports.lessons.formats import render as render_lesson
from chiron_api.text import as_json
from chiron_api.views.coverage_maps import MapFormat, load_map
from chiron_api.views.coverage_maps import render as render_map
from chiron_api.views.facts import fact_page
from chiron_workers.batches.summaries import find
from chiron_workers.db.validation import parse_id
from chiron_workers.errors import ChironError
from chiron_workers.knowledge.facts.fact_details import load_details
from chiron_workers.knowledge.lessons.reading import read_lesson
from chiron_workers.store import Store

JSON = "application/json"
MARKDOWN = "text/markdown"
TEXT = "text/plain"
REPORT_CHARS_MAX = 400_000
Read = Callable[[Store, str], Awaitable[str]]


async def read_fact(store: Store, id: str) -> str:
    """A fact with the quotes it rests on, how its confidence comes about, what contradicts it, and its history."""
    return as_json(fact_page(await load_details(store.session, parse_id(id, field="id"))))


async def read_research(store: Store, id: str) -> str:
    """How far a run or a batch is, what it cost, and what was answered."""
    summary = await find(store.session.pool, id, owner=store.caller.visible_owner)
    return as_json(await describe(current_services(), summary))


async def read_report(store: Store, id: str) -> str:
    """What a batch or a run found, or what is known of a subject, with numbered sources."""
    document = await report_on(current_services(), await visible_target(store, id), MARKDOWN_REPORT)
    return await asyncio.to_thread(_beginning, document.pieces)


def _beginning(pieces: Iterable[str | bytes]) -> str:
    text = ""
    for piece in pieces:
        text += str(piece)
        if len(text) > REPORT_CHARS_MAX:
            return f"{text[:REPORT_CHARS_MAX]}\n\n[Cut here; get_report reads on from offset {REPORT_CHARS_MAX:,}.]\n"
    return text


async def read_lesson_text(store: Store, id: str) -> str:
    """A lesson on a node of a map: each sentence names its facts, and what is stale says so."""
    lesson = await read_lesson(store.session.pool, parse_id(id, field="id"))
    return await asyncio.to_thread(lambda: "".join(render_lesson(lesson, LessonFormat.MD)))


async def read_lessons(store: Store, id: str) -> str:
    """The newest lesson on each node of a subject, and which of them are stale."""
    return as_json({"items": await list_lessons(store, subject_id=id)})


async def read_map(store: Store, id: str) -> str:
    """The coverage map of a subject as a tree: * is critical for the goal; facts, and what must be known first."""
    subject_id = (await store.subjects.require(id))["subject_id"]
    return await asyncio.to_thread(render_map, await load_map(store.session, subject_id), MapFormat.TREE)


TEMPLATES: tuple[tuple[str, str, str, Read], ...] = (
    ("chiron://facts/{id}", "fact", JSON, read_fact),
    ("chiron://runs/{id}", "run", JSON, read_research),
    ("chiron://batches/{id}", "batch", JSON, read_research),
    ("chiron://runs/{id}/report", "report of a run", MARKDOWN, read_report),
    ("chiron://batches/{id}/report", "report of a batch", MARKDOWN, read_report),
    ("chiron://subjects/{id}/report", "report of a subject", MARKDOWN, read_report),
    ("chiron://subjects/{id}/map", "map of a subject", TEXT, read_map),
    ("chiron://subjects/{id}/lessons", "lessons of a subject", JSON, read_lessons),
    ("chiron://lessons/{id}", "lesson", MARKDOWN, read_lesson_text),
)


def resource_templates(services: LazyServices) -> list[ResourceTemplate]:
    """The templates; a resource needs no service until it is read, and shows a caller what a tool would show them."""
    return [
        ResourceTemplate.from_function(
            _reader(services, read),
            uri_template=address,
            name=name,
            description=str(read.__doc__),
            mime_type=media_type,
        )
        for address, name, media_type, read in TEMPLATES
    ]


def _reader(services: LazyServices, read: Read) -> Callable[[str], Awaitable[str]]:
    async def reader(id: str) -> str:
        with _errors_for_clients():
            own_services = (await services.get()).of(current_principal())
            with calling(own_services):
                async with own_services.store() as store:
                    return await read(store, id)

    return reader


@contextmanager
def _errors_for_clients() -> Iterator[None]:
    try:
        yield
    except ChironError as error:
        raise ResourceError(with_remedies(error)) from error
    except psycopg.OperationalError as error:
        raise ResourceError(DATABASE_AWAY) from error
