"""The HTTP API as people meet it: a real server on a free port."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import httpx2
import pytest
from support.api_server import api_client, keyed_client
from support.course import Course, course_of_three
from support.lesson_writing import Taught, taught_subject
from support.report_writing import Batch, researched_batch
from support.research_rows import Shelf

from chiron_workers.settings import Settings

Serving = Callable[[Settings], AbstractAsyncContextManager[httpx2.AsyncClient]]


@pytest.fixture
def serving() -> Serving:
    """`async with serving(settings) as client`: a client of a server that runs with these settings."""
    return api_client


@pytest.fixture
def keyless(settings: Settings) -> Settings:
    """Settings of a server that asks for no key."""
    return settings.model_copy(update={"api_without_key": True})


@pytest.fixture
async def api(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """A client without a key of a server that asks for one."""
    async with api_client(settings) as opened:
        yield opened


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a server as it is by default, with the key that its home keeps."""
    async with keyed_client(settings) as opened:
        yield opened


@pytest.fixture
def batch(shelf: Shelf) -> Batch:
    """A batch whose facts a report is written from."""
    return researched_batch(shelf)


@pytest.fixture
def taught(shelf: Shelf) -> Taught:
    """A subject whose lessons are written from its facts."""
    return taught_subject(shelf)


@pytest.fixture
def course(shelf: Shelf) -> Course:
    """A course of three chapters."""
    return course_of_three(shelf)
