"""LiteLLM's proxy, which speaks the Messages API before servers of any kind, as a child process on loopback.

It needs versions of libraries that ours do not, so it lives in an environment of its own: `.ci/run` makes it.
"""

import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

import pytest

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
PROGRAM = CACHE / "chiron-ci-litellm" / "bin" / "litellm"
KEY = "sk-of-the-proxy"
START_S = 120.0  # its imports take 6 s on an idle machine, and twice as long where nothing is compiled yet
LOOK_S = 0.05
needs_litellm = pytest.mark.skipif(
    not PROGRAM.exists(), reason=f"needs LiteLLM's proxy in {PROGRAM.parents[1]}: .ci/run installs it"
)


@dataclass(frozen=True, slots=True)
class LitellmProxy:
    """Where the proxy is, and the key that it asks of its clients."""

    url: str
    key: str
    log: Path


@contextmanager
def litellm_proxy(models: Mapping[str, Mapping[str, Any]]) -> Iterator[LitellmProxy]:
    """A proxy that listens; it ends with the block.

    Args:
        models: For the name of each model the server behind it, as `litellm_params` of LiteLLM's documentation.
    """
    with tempfile.TemporaryDirectory(prefix="litellm") as folder:
        config, log, port = Path(folder) / "config.yaml", Path(folder) / "proxy.log", free_port()
        config.write_text(json.dumps(configuration(models)))  # JSON is YAML
        command = [PROGRAM, "--config", config, "--host", "127.0.0.1", "--port", str(port)]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, env=environment(folder), stdout=output, stderr=subprocess.STDOUT, cwd=folder
            )
        try:
            proxy = LitellmProxy(f"http://127.0.0.1:{port}", KEY, log)
            wait_until_alive(proxy, process)
            yield proxy
        finally:
            process.kill()
            process.wait()


def configuration(models: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Without retries of its own: Chiron counts them, and a test waits for none."""
    return {
        "model_list": [
            {"model_name": name, "litellm_params": dict(params)} for name, params in models.items()
        ],
        "general_settings": {"master_key": KEY},
        "litellm_settings": {"num_retries": 0, "telemetry": False},
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
    }


def environment(folder: str) -> dict[str, str]:
    """Nothing of the developer's own, and nothing that has the proxy ask the internet for the prices of models."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": folder,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MODE": "PRODUCTION",
        "DISABLE_ADMIN_UI": "True",
        "NO_PROXY": "*",
    }


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def wait_until_alive(proxy: LitellmProxy, process: "subprocess.Popen[bytes]") -> None:
    give_up_at = time.monotonic() + START_S
    opener = build_opener(ProxyHandler({}))
    while True:
        try:
            opener.open(f"{proxy.url}/health/liveliness", timeout=5).close()
        except (URLError, OSError):
            said = proxy.log.read_text(errors="replace")[-2000:]
            assert process.poll() is None and time.monotonic() < give_up_at, f"no proxy: {said}"
            time.sleep(LOOK_S)
        else:
            return
