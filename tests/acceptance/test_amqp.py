"""Another broker than Redis: RabbitMQ from Debian, on loopback, with TLS before it and without."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.certificates import make_certificate
from support.proxy import threaded_proxy
from support.scripted_model import Says, call, calls, says, scripted_model, turn
from support.worker_processes import chiron, rows, running, wait_until

from chiron_api.local_stack.ports import free_port, is_free
from chiron_workers.settings import Settings

SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
pytestmark = [
    pytest.mark.skipif(not SERVER.exists(), reason="needs Debian's package rabbitmq-server"),
]


@pytest.fixture
def amqp_url(short_dir: Path) -> Iterator[str]:
    folder = short_dir / "rabbit"
    (folder / "home").mkdir(parents=True)
    port, dist_port, epmd_port = free_port(), free_port(), free_port()
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "RABBITMQ_NODENAME": f"chiron{port}@localhost",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_DIST_PORT": str(dist_port),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_CONFIG_FILE": str(folder / "none"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "ERL_EPMD_PORT": str(epmd_port),
    }
    epmd = shutil.which("epmd")
    assert epmd is not None
    ports = subprocess.Popen([epmd, "-relaxed_command_check"], env=env, stdout=subprocess.DEVNULL)
    server = subprocess.Popen([SERVER], env=env, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_until(lambda: not is_free("127.0.0.1", port), what="RabbitMQ")
        yield f"amqp://guest:guest@127.0.0.1:{port}//"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(90)
        ports.terminate()
        ports.wait(90)


async def two_turns(request: dict[str, Any]) -> Says:
    if turn(request) == 1:
        return says("done")
    return calls(call("save_learning_goal", subject_id="physics", purpose_statement="know it"))


async def plays_ten_runs(settings: Settings, model_url: str, **env: str) -> None:
    env |= {"ANTHROPIC_API_KEY": "test", "CHIRON_MODEL": "claude-opus-5-5"}
    before = len(rows(settings, "select 1 from runs"))
    with running(settings, "-c", "10", **env, ANTHROPIC_BASE_URL=model_url) as worker:
        topics = [f"topic {n}" for n in range(10)]
        done = await asyncio.to_thread(chiron, settings, "submit", *topics, "--subject", "Physics", **env)
        assert done.returncode == 0, done.stderr
        completed = "select 1 from runs where state = 'completed' having count(*) = %s"
        await asyncio.to_thread(wait_until, lambda: rows(settings, completed, [before + 10]), what="all runs")
        assert await asyncio.to_thread(worker.stop) == 0
    assert "Traceback" not in worker.log.read_text()


async def test_runs_are_rung_and_played_over_amqp_with_tls_and_without(
    settings: Settings, amqp_url: str, tmp_path: Path
) -> None:
    certificate = make_certificate(tmp_path)
    port = urlsplit(amqp_url).port
    assert port is not None
    async with scripted_model(two_turns) as model:
        await plays_ten_runs(settings.model_copy(update={"broker_url": amqp_url}), model.url)
        with threaded_proxy(port, certificate=certificate) as proxy:
            tls_url = f"amqps://guest:guest@localhost:{proxy.port}//"
            over_tls = settings.model_copy(update={"broker_url": tls_url})
            refusal = await asyncio.to_thread(chiron, over_tls, "doctor")

            assert re.search(r"The broker at localhost:\d+ cannot be used", refusal.stdout)
            await plays_ten_runs(over_tls, model.url, SSL_CERT_FILE=str(certificate.file))
    assert rows(settings, "select 1 from runs where lease <> 1") == []
