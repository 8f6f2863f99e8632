"""Flower as `chiron flower` starts it: who may read it, what it never does, and what it shows."""

import base64
import json
import resource
import socket
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from redis import Redis
from support.flower_server import FlowerServer, answers, celery_flower, flower
from support.private_valkey import own_valkey
from support.worker_processes import chiron, running, wait_until

from chiron_api.local_stack.access import flower_password_file
from chiron_workers.settings import Settings

WORKER = "w1@test"
WRITES = (
    f"/api/worker/shutdown/{WORKER}",
    f"/api/worker/pool/restart/{WORKER}",
    f"/api/worker/pool/grow/{WORKER}?n=3",
    f"/api/worker/pool/shrink/{WORKER}?n=1",
    f"/api/worker/pool/autoscale/{WORKER}?min=1&max=2",
    f"/api/worker/queue/add-consumer/{WORKER}?queue=other",
    f"/api/worker/queue/cancel-consumer/{WORKER}?queue=chiron",
    "/api/task/apply/chiron.run",
    "/api/task/async-apply/chiron.run",
    "/api/task/send-task/chiron.run",
    "/api/task/abort/0192b0f0-0000-7000-8000-000000000000",
    "/api/task/timeout/chiron.run?soft=1",
    "/api/task/rate-limit/chiron.run?ratelimit=1",
    "/api/task/revoke/0192b0f0-0000-7000-8000-000000000000?terminate=true",
)


@pytest.fixture(scope="module")
def server(valkey: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlowerServer]:
    home = tmp_path_factory.mktemp("home")
    settings = Settings(_env_file=None, home=home, redis_url=valkey)  # type: ignore[call-arg]
    with flower(settings, folder=home) as started:
        yield started


def test_flower_asks_for_a_password_that_the_home_keeps_for_its_owner_alone(server: FlowerServer) -> None:
    for path in ("/", "/tasks", "/api/workers", "/api/tasks", "/metrics", "/static/css/flower.css"):
        status, text, headers = server.request(path, Authorization="")
        assert (status, headers["www-authenticate"]) == (401, 'Basic realm="Chiron"')
        assert server.password not in text
        assert server.request(path)[0] == 200, path
    wrong = base64.b64encode(b"chiron:another").decode()
    assert server.request("/", Authorization=f"Basic {wrong}")[0] == 401
    assert server.request("/", Authorization=f"Bearer {server.password}")[0] == 401
    assert server.request("/", Authorization="Basic \u00e9")[0] == 401
    file = server.log.parent / "flower.password"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(server.password) > 40


def test_flowers_health_is_told_without_a_password_and_says_nothing_else(server: FlowerServer) -> None:
    assert server.request("/healthcheck", Authorization="")[:2] == (200, "OK")


def test_no_log_and_no_command_line_shows_flowers_password(server: FlowerServer) -> None:
    server.request("/", Authorization=base64.b64encode(f"chiron:{server.password}".encode()).decode())
    assert server.password not in server.log.read_text()
    assert server.password not in " ".join(psutil.Process(server.process.pid).cmdline())


def test_flower_lets_no_page_of_another_origin_read_it(server: FlowerServer) -> None:
    for origin in ("https://evil.example", "null", f"https://127.0.0.1:{server.port}", "http://127.0.0.1:1"):
        status, _, headers = server.request("/api/tasks", Origin=origin)
        assert status == 403
        assert not [name for name in headers if name.startswith("access-control")]
    status, _, headers = server.request("/api/tasks", Origin=f"http://127.0.0.1:{server.port}")
    assert status == 200
    assert not [name for name in headers if name.startswith("access-control")]
    assert server.request("/healthcheck", Host="evil.example")[0] == 421


def test_flowers_own_page_may_ask_for_the_list_of_tasks(server: FlowerServer) -> None:
    query = "draw=1&start=0&length=10&order[0][column]=0&order[0][dir]=desc&columns[0][data]=received"
    own = f"http://127.0.0.1:{server.port}"
    status, text, _ = server.request(f"/tasks/datatable?{query}", "POST", Origin=own)
    assert (status, json.loads(text)["data"]) == (200, [])


def test_flower_runs_in_the_home_and_leaves_its_tasks_there_for_nobody_else(server: FlowerServer) -> None:
    assert Path(psutil.Process(server.process.pid).cwd()) == server.log.parent


@pytest.mark.parametrize("path", WRITES)
def test_flowers_write_api_is_off_also_with_the_password(server: FlowerServer, path: str) -> None:
    status, text, _ = server.request(path, "POST", Origin=f"http://127.0.0.1:{server.port}")
    assert (status, "Flower only shows" in text) == (405, True)
    assert server.request(path, "DELETE")[0] == 405


def test_a_refused_request_is_answered_before_its_body_is_read(server: FlowerServer) -> None:
    head = f"POST /api/worker/shutdown/x HTTP/1.1\r\nHost: localhost:{server.port}\r\nContent-Length: 90000000\r\n\r\n"
    assert server.send(head.encode()) == 401


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits another process")
def test_half_sent_requests_do_not_silence_flower(settings: Settings) -> None:
    head = b"GET /healthcheck HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
    with flower(settings) as server, ExitStack() as stack:
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (256, 256))
        for _ in range(300):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            connection.sendall(head)
        assert server.request("/healthcheck")[0] == 200


def test_flower_ends_while_redis_is_away(tmp_path: Path, short_dir: Path) -> None:
    with own_valkey(short_dir / "flower") as valkey:
        settings = Settings(_env_file=None, home=tmp_path, redis_url=valkey.url)  # type: ignore[call-arg]
        with flower(settings) as server:
            with Redis.from_url(valkey.url) as redis:  # Flower answers before it listens to events.
                wait_until(lambda: any(int(client["psub"]) for client in redis.client_list()))
            valkey.kill()
            wait_until(lambda: "Failed to capture events" in server.log.read_text())
        assert server.process.returncode == 0


def test_a_worker_is_not_shut_down_by_a_plain_post(settings: Settings) -> None:
    with flower(settings) as server, running(settings, ANTHROPIC_API_KEY="test") as worker:
        workers = lambda: json.loads(server.request("/api/workers?refresh=1")[1])  # noqa: E731
        wait_until(lambda: WORKER in workers(), what="the worker in Flower")
        assert server.request(WRITES[0], "POST", Authorization="")[0] == 401
        assert server.request(WRITES[0], "POST")[0] == 405
        assert WORKER in workers()
        assert worker.process.poll() is None


def test_flower_takes_a_password_that_somebody_set_and_writes_none(settings: Settings) -> None:
    with flower(settings, folder=settings.home, CHIRON_FLOWER_PASSWORD="of,my: own") as server:
        assert server.request("/")[0] == 200
        assert not flower_password_file(settings).exists()


def test_a_password_that_flower_cannot_compare_is_refused(settings: Settings) -> None:
    done = chiron(settings, "flower", CHIRON_FLOWER_PASSWORD="pässword")
    assert (done.returncode, "must be ASCII" in done.stderr) == (2, True)
    assert "pässword" not in done.stderr


def test_flower_beyond_this_machine_answers_to_any_name_and_asks_for_its_password(settings: Settings) -> None:
    with flower(settings, CHIRON_FLOWER_HOST="0.0.0.0") as server:
        assert server.request("/", Host="chiron.example")[0] == 200
        assert server.request("/", Host="chiron.example", Authorization="")[0] == 401
        assert server.request("/", Host="chiron.example", Origin=f"http://127.0.0.1:{server.port}")[0] == 403


def test_flower_counts_wrong_passwords_by_address_and_believes_trusted_proxies_alone(
    settings: Settings,
) -> None:
    wrong = [f"Basic {base64.b64encode(b'chiron:%d' % n).decode()}" for n in range(11)]
    with flower(settings, CHIRON_TRUSTED_PROXIES="127.0.0.1") as server:
        guesses = [
            server.request("/", Authorization=wrong[n], **{"X-Forwarded-For": f"{n}.1.1.1, 203.0.113.7"})
            for n in range(11)
        ]
        assert [status for status, *_ in guesses] == [401] * 10 + [429]
        assert 1 <= int(guesses[-1][2]["retry-after"]) <= 60
        assert server.request("/", **{"X-Forwarded-For": "203.0.113.7"})[0] == 429
        assert server.request("/", **{"X-Forwarded-For": "203.0.113.8"})[0] == 200
        tls = {"X-Forwarded-Proto": "https", "Origin": f"https://127.0.0.1:{server.port}"}
        assert server.request("/api/tasks", **tls)[0] == 200
    with flower(settings, FLOWER_XHEADERS="true") as server:
        tls = {
            "X-Forwarded-Proto": "https",
            "X-Scheme": "https",
            "Origin": f"https://127.0.0.1:{server.port}",
        }
        assert server.request("/api/tasks", **tls)[0] == 403
        for n in range(10):
            server.request("/", Authorization=wrong[n], **{"X-Forwarded-For": f"203.0.113.{n}"})
        assert server.request("/", Authorization=wrong[10])[0] == 429
        assert server.request("/")[0] == 200


def test_celerys_own_flower_command_still_works(settings: Settings) -> None:
    with celery_flower(settings) as port:
        assert answers(port)
