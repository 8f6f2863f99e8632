import itertools
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from support import forked_python
from support.worker_processes import wait_until

from chiron_api.http.serve import serve
from chiron_workers.access.sessions import create_code
from chiron_workers.db.connect import Pool
from chiron_workers.errors import ChironError, ConfigurationError, ServiceUnavailable
from chiron_workers.settings import Settings

COMMAND = [sys.executable, "-m", "chiron_api", "api"]


@pytest.fixture
def environment(settings: Settings, tmp_path: Path) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("CHIRON_")}
    return own | {
        "CHIRON_HOME": str(tmp_path),
        "CHIRON_DATABASE_URL": settings.database_url,
        "CHIRON_REDIS_URL": settings.redis_url,
    }


def test_the_command_serves_until_it_is_told_to_stop(environment: dict[str, str], tmp_path: Path):
    with forked_python.Popen(
        [*COMMAND, "--port", "0"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            address = process.stdout.readline().rsplit(maxsplit=1)[-1]
            with httpx2.Client(base_url=address, timeout=60, trust_env=False) as client:
                # The socket listens already; the answer comes once the server has started.
                assert client.get("/readyz").json() == {"status": "ready"}
                client.headers["Authorization"] = f"Bearer {(tmp_path / 'api.key').read_text().strip()}"
                batch = client.post("/v1/batches", json={"topics": ["Closures"], "subject": "Python"}).json()
                with client.stream("GET", f"/v1/batches/{batch['batch_id']}/events") as reader:
                    lines = reader.iter_lines()
                    assert "event: snapshot" in itertools.islice(lines, 2)  # its id and its kind
                    process.send_signal(signal.SIGTERM)
                    # Cut and not ended, so that no reader takes the stop of a server for the end of a batch.
                    with pytest.raises(httpx2.RemoteProtocolError):
                        list(lines)
            process.wait(timeout=9)  # before the server would cut what is open
        finally:
            process.kill()  # where an assertion failed, that Popen does not wait for a server that goes on
    assert process.returncode in (0, -signal.SIGTERM)


async def test_the_log_of_the_command_has_its_requests_and_no_code_of_a_link(
    environment: dict[str, str], tmp_path: Path, pool: Pool
):
    codes = [await create_code(pool) for _ in range(2)]
    log = tmp_path / "api.log"
    with (
        log.open("wb") as output,
        forked_python.Popen(
            [*COMMAND, "--port", "0"],
            cwd=tmp_path,
            env=environment | {"CHIRON_LOG_LEVEL": "debug"},
            stdout=output,
            stderr=output,
        ) as process,
    ):
        try:
            wait_until(lambda: "Bearer KEY" in log.read_text(), what="the address in the log")
            address = log.read_text().splitlines()[0].rsplit(maxsplit=1)[-1]
            async with httpx2.AsyncClient(base_url=address, timeout=60, trust_env=False) as client:
                for method, code in zip(("GET", "HEAD"), codes, strict=True):
                    answer = await client.request(method, "/open", params={"code": code})
                    assert answer.status_code == 200
        finally:
            process.terminate()
    text = log.read_text()
    assert '"GET /open?… HTTP/1.1" 200' in text
    assert '"HEAD /open?… HTTP/1.1" 200' in text
    assert [code for code in codes if code in text] == []


def test_what_cannot_work_is_refused_in_a_sentence(settings: Settings):
    with pytest.raises(ConfigurationError, match="CHIRON_API_KEY"):
        serve(settings.model_copy(update={"api_host": "0.0.0.0", "api_without_key": True}))
    with pytest.raises(ServiceUnavailable, match=r"Postgres cannot be reached: .*[^?.]\. `chiron up` starts"):
        serve(settings.model_copy(update={"database_url": "postgresql://127.0.0.1:1/none"}))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ChironError, match=f"port {port}"):
            serve(settings.model_copy(update={"api_port": port}))
