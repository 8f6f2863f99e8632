"""The real services for every test: one embedded PostgreSQL and one Valkey a session, one database a test."""

import asyncio
import gc
import os
import re
import resource
import secrets
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
import structlog
from hypothesis import HealthCheck, is_hypothesis_test
from hypothesis import settings as hypothesis_settings
from redis import Redis
from support import interpreter_starts
from support.databases import Databases
from support.private_valkey import own_valkey
from support.research_rows import Shelf
from support.run_harness import Stage, open_stage
from support.scripted_sites import Site, serving
from xdist.scheduler import LoadScopeScheduling

from benchmarks.patient_postgres import get_server
from chiron_workers import ids
from chiron_workers.db.connect import Pool, open_pool
from chiron_workers.db.migrate import migrate
from chiron_workers.embeddings import Embedder, open_embedder
from chiron_workers.runs import partitions
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import Settings
from chiron_workers.settings import settings as settings_of_process
from chiron_workers.store import Store

TEMPLATE = "chiron_template"
RELEASED = Path(__file__).parent / "db" / "released" / "schema_0002" / "database.sql"
HERE = Path(__file__).parent
STARTS = pytest.StashKey[str]()
ACCEPTANCE_S = 900  # keeps a long test from hanging
# What starts workers and stacks as processes beside many quick tests: never two of these at a time.
ALONE = ("tests/worker/", "tests/local_stack/")
# These begin first, so that no process is left with one of them when the other has ended.
LONGEST = (
    "tests/acceptance/test_benchmarks.py", "tests/acceptance/test_demo.py", "tests/acceptance/test_chaos.py",
    "tests/acceptance/test_faults.py", "tests/acceptance/test_page.py", "tests/acceptance/test_openapi.py",
    "tests/acceptance/test_litellm.py", "tests/acceptance/test_thousand_streams.py", "tests/acceptance/test_tutorial.py",
    "tests/acceptance/test_written_reports.py",
    "tests/mcp_client/test_conformance.py", "tests/acceptance/test_amqp.py", "tests/acceptance/test_backup.py",
    "tests/worker/", "tests/local_stack/", "tests/hostile/test_reading.py", "tests/hostile/test_backups.py",
    "tests/mcp_client/test_server.py", "tests/reports/test_large_subjects.py", "tests/http/routes/test_metrics.py",
    "tests/cli/test_watch.py", "tests/hostile/test_fuzzed_routes.py",
)  # fmt: skip
MAY_BE_ACCEPTANCE = re.compile(r"acceptance|\bchance\b|@given")

PLAIN_LINES = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
BEHAVIOUR_SEED = 20_261
SEED = pytest.StashKey[int]()
# A busy machine is no failure: an example may take as long as it takes.
hypothesis_settings.register_profile(
    "acceptance", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
hypothesis_settings.register_profile(
    "behaviour",
    hypothesis_settings.get_profile("acceptance"),
    derandomize=True,
    database=None,
    max_examples=25,
)


class ByFile(LoadScopeScheduling):
    """File by file; one process plays all of `ALONE`, in order."""

    def _split_scope(self, nodeid: str) -> str:
        return "alone" if nodeid.startswith(ALONE) else nodeid.partition("::")[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--interpreters-max", type=int, help="fail if tests start more Python interpreters")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        interpreter_starts.begin()
    # Where compiled modules may not be kept, each start compiles what it imports anew, for seconds.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    hypothesis_settings.load_profile("acceptance" if _is_acceptance(config) else "behaviour")
    config.stash[SEED] = _choose_seed(config)
    # With what its variables were, a traceback takes half a second.
    structlog.configure([*structlog.get_config()["processors"][:-1], PLAIN_LINES])
    # Scores count as tests give them, wherever their sources are said to be.
    os.environ["CHIRON_SOURCE_KINDS"] = str(HERE / "support" / "source_kinds.toml")


def pytest_collection(session: pytest.Session) -> None:
    """What is collected stays to the end, so nothing of it is garbage: the collector would walk through it again and again."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Keep what is in a cycle of references until the test ends, as a process that collects seldom does."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
    gc.collect()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        limit = session.config.getoption("--interpreters-max")
        session.config.stash[STARTS] = interpreter_starts.end(session, limit)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    terminalreporter.write_line(config.stash[STARTS])


def _is_acceptance(config: pytest.Config) -> bool:
    """Whether the marker expression asks for acceptance, which draws anew what behaviour plays the same each time."""
    return bool(re.search(r"(?<!not )\bacceptance\b", config.option.markexpr))


def _is_random(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and (
        "chance" in item.fixturenames or is_hypothesis_test(item.obj)
    )


def _choose_seed(config: pytest.Config) -> int:
    if hasattr(config, "workerinput"):
        return int(config.workerinput["seed"])
    if text := os.environ.get("CHIRON_SEED"):
        return int(text)
    return secrets.randbelow(2**32) if _is_acceptance(config) else BEHAVIOUR_SEED


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """All processes of a run draw from the same seed."""
    node.workerinput["seed"] = node.config.stash[SEED]


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed: CHIRON_SEED={config.stash[SEED]} plays it again"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    is_acceptance = _is_acceptance(config)
    for item in items:
        # What behaviour plays with the same numbers each time is played here with new ones.
        if is_acceptance and _is_random(item):
            item.add_marker(pytest.mark.acceptance)
        if HERE / "acceptance" in item.path.parents:
            item.add_marker(pytest.mark.acceptance)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(ACCEPTANCE_S))
    items.sort(
        key=lambda item: next(
            (n for n, name in enumerate(LONGEST) if item.nodeid.startswith(name)), len(LONGEST)
        )
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without any test of the acceptance run: to import them all takes half a minute in each process."""
    is_test = collection_path.suffix == ".py" and collection_path.name.startswith("test_")
    if (
        not is_test
        or config.option.markexpr != "acceptance"
        or HERE / "acceptance" in collection_path.parents
    ):
        return None
    return None if MAY_BE_ACCEPTANCE.search(collection_path.read_text()) else True


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The seed of this run: the same for each run of behaviour, drawn for acceptance, and printed at its beginning."""
    return pytestconfig.stash[SEED]


@pytest.fixture
def chance(seed: int) -> Random:
    """A test's own generator of random numbers."""
    return Random(seed)


@pytest.fixture(scope="session")
def short_dir() -> Iterator[Path]:
    """A folder with a short path, since Unix sockets allow 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="ch"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres(short_dir: Path) -> Iterator[str]:
    """URL of a real PostgreSQL with a migrated template database."""
    server = get_server(short_dir / "pg", cleanup_mode="stop")
    url = server.get_uri()
    with psycopg.connect(url, autocommit=True) as connection:
        # Tests prove what a crash of a worker leaves behind, not of the disk.
        connection.execute("alter system set fsync = off")
        connection.execute("alter system set full_page_writes = off")
        # It would analyse tables at a time of its own, and change the plans that a test looks at.
        connection.execute("alter system set autovacuum = off")
        connection.execute("select pg_reload_conf()")
        connection.execute(f"create database {TEMPLATE}")
    migrate(template := url.replace("/postgres?", f"/{TEMPLATE}?"))
    asyncio.run(_make_partitions(template))
    yield url
    server.cleanup()


async def _make_partitions(url: str) -> None:
    # The first submit of a month would make them; then every test that submits would change the schema.
    async with open_pool(url, size=1) as opened:
        await partitions.ensure(opened, [ids.new_id()])


@pytest.fixture(scope="session")
def databases(postgres: str) -> Iterator[Databases]:
    """The databases of this process's server."""
    opened = Databases(postgres, TEMPLATE)
    yield opened
    opened.close()


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A migrated database of this test's own, without rows."""
    with databases.lend() as url:
        yield url


@pytest.fixture
def empty_url(databases: Databases) -> Iterator[str]:
    """A database with nothing in it."""
    with databases.lend_blank() as url:
        yield url


@pytest.fixture
def released_url(empty_url: str) -> str:
    """A database as the first release left it, with runs in flight; not migrated yet."""
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(RELEASED.read_text())
    return empty_url


@pytest.fixture(scope="session")
def valkey(short_dir: Path) -> Iterator[str]:
    """URL of a real Valkey."""
    with own_valkey(short_dir / "valkey") as server:
        yield server.url


@pytest.fixture
def settings(database_url: str, valkey: str, tmp_path: Path) -> Settings:
    """Settings that point at the test's own services; Redis is empty."""
    with Redis.from_url(valkey) as redis:
        redis.flushdb()
    return Settings(
        _env_file=None, home=tmp_path, database_url=database_url, redis_url=valkey, model="offline"
    )  # type: ignore[call-arg]


@pytest.fixture
async def local_site(setting: Callable[[str, str], None]) -> AsyncIterator[Site]:
    """A site on this machine whose pages tools may fetch, without a pause between two."""
    setting("FETCH_PRIVATE", "true")
    setting("FETCH_PAUSE_S", "0")
    async with serving("127.0.0.1") as site:
        yield site


@pytest.fixture
def unpriced(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A model that is said to have no price."""
    monkeypatch.setenv("CHIRON_PRICES", '{"nobody-knows": "none"}')
    settings_of_process.cache_clear()
    yield "nobody-knows"
    monkeypatch.undo()
    settings_of_process.cache_clear()


@pytest.fixture
def setting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], None]]:
    """`setting("FETCH_PRIVATE", "true")`: this process's settings as the environment would set them."""

    def change(name: str, value: str) -> None:
        monkeypatch.setenv(f"CHIRON_{name}", value)
        settings_of_process.cache_clear()

    yield change
    monkeypatch.undo()
    settings_of_process.cache_clear()


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file may become larger than 20 bytes, as on a disk that is full."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # or compiled modules would be cut, too
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    async with open_pool(database_url, size=5) as opened:
        yield opened


@pytest.fixture(scope="session")
def embedder() -> Iterator[Embedder]:
    """The embedded model, loaded once: it works from any event loop."""
    opened = open_embedder(Settings(_env_file=None))  # type: ignore[call-arg]
    yield opened
    asyncio.run(opened.close())


@pytest.fixture
async def store(pool: Pool, embedder: Embedder) -> AsyncIterator[Store]:
    """A store as a tool is handed it outside a run; commits when the test succeeds."""
    async with Store(Session(pool, Caller()), embedder) as opened:
        yield opened


@pytest.fixture
def shelf(database_url: str) -> Iterator[Shelf]:
    """Writes facts as rows, for tests of what is made of them."""
    made = Shelf(database_url)
    yield made
    made.connection.close()


@pytest.fixture
async def stage(pool: Pool, settings: Settings, embedder: Embedder) -> AsyncIterator[Stage]:
    """What a run needs without Celery: a test executes runs by hand."""
    async with open_stage(pool, settings, embedder) as stage:
        yield stage
