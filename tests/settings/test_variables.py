"""Each setting as a variable: what a program reads back is what was set."""

import base64
import os
import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from support.worker_processes import wait_until

from chiron_api.local_stack.home import Home
from chiron_api.local_stack.programs import Kind, Program
from chiron_api.local_stack.supervision import Supervisor
from chiron_workers.errors import ConfigurationError
from chiron_workers.evidence.source_kinds import TABLE
from chiron_workers.settings import Settings, read_settings
from chiron_workers.settings.values import RateLimit
from chiron_workers.settings.variables import process_environment

LIMIT = RateLimit(requests_per_minute=50, input_tokens_per_minute=1e5)
ODD = '50% of $HOME, "it\'s" %(ENV_PATH)s #1; ü\\n'
# For each setting at least one value that is not its default; the oddest that its type allows.
SAMPLES: dict[str, list[Any]] = {
    "home": [Path("/srv/a 100% odd, home")],
    "database_url": ["postgresql://me:p%40ss@host/db?sslmode=require"],
    "redis_url": ["rediss://:p%23w@host:6380/0?ssl_ca_certs=/ca.pem"],
    "broker_url": ["amqp://me:pw@a//;amqp://me:pw@b//"],
    "model": ["offline", ODD],
    "max_tokens": [1], "thinking": ["adaptive"], "effort": ["xhigh"],
    "context_tokens": [{"m": 8_000, ODD: 9_000}], "max_turns": [7], "max_attempts": [1],
    "model_timeout_s": [0.1, 1e-7], "model_idle_s": [0.5], "model_progress_s": [0.5], "transport": ["sdk"],
    "model_tries": [9], "cache_ttl": ["1h"], "model_patience_s": [1.5],
    "rate_limits": [{"claude-opus-5-5": LIMIT, ODD: RateLimit()}],
    "claude_search": [False],
    "prices": [{"m": {"input": 1.5, "output": 1e-9}, "free": "none"}],
    "service_prices": [{"brave": "0.005", ODD: {"per_million_tokens": 0.06, "per_call": 0}}],
    "run_budget_usd": ["0.01", "1E+3"], "daily_budget_usd": ["99.99"],
    "subscription_interval_s": [60.5], "subscriptions_per_subject": [0], "concurrency": [3], "workers": [3],
    "model_concurrency": [{"m": 2}], "pool_size": [4], "lease_s": [9.5], "renewal_s": [0.25], "rescue_s": [0.5],
    "ring_again_s": [3.5], "drain_s": [1.25],
    "tools": [["a_module", "/a,b/folder"], []],
    "roles": [[Path("/a,b")]],
    "skills": [[Path("/a,b"), Path('/c"d')]], "trusted_skills": [[Path("/a,b")]], "project": [Path("/srv/p")],
    "mcp_servers": ["/etc/mcp, mine.json"],
    "tool_timeout_s": [1.5], "tool_result_chars": [1_000], "verdict_model": [ODD], "confidence_threshold": [0.1],
    "source_kinds": [str(TABLE)],
    "unverified_confidence_max": [0.2], "require_quotes": [False],
    "embedding_provider": ["voyage"], "embedding_model": [ODD], "embedding_url": ["https://e.example/v1"],
    "embedding_api_key": [ODD], "embedding_dimensions": [512],
    "search": ["auto,brave"], "search_keys": [{"brave": ODD, "exa": "k"}],
    "search_urls": [{"searxng": "https://s.example/?q=%s"}], "search_timeout_s": [2.5],
    "private_queries": ["allow"],
    "fetch_private": [True], "fetch_bytes_max": [1_000], "fetch_timeout_s": [1.5], "fetch_robots": [False],
    "fetch_pause_s": [0.0], "fetch_cache_s": [0.0],
    "crossref_url": ["none"], "openalex_url": ["http://o.example/%s"], "mailto": [ODD],
    "files": [(Path("/a,b"), Path("/c d")), ()], "file_bytes_max": [1_000], "file_timeout_s": [1.5],
    "file_memory_mb": [100],
    "api_host": ["::1"], "api_port": [8701], "api_key": [ODD], "api_without_key": [True], "streams_per_key": [7],
    "trusted_proxies": [["10.0.0.0/8", "::1/128"]],
    "upload_bytes_max": [1_000], "public_url": ["https://c.example/chiron"], "webhook_private": [True],
    "smtp_host": ["mail.example"], "smtp_port": [25], "smtp_tls": ["none"], "smtp_user": [ODD], "smtp_password": [ODD],
    "smtp_from": [ODD],
    "flower_host": ["::1"], "flower_port": [5556], "flower_password": [ODD], "log_level": ["debug"],
}  # fmt: skip
SINGLE = [(name, value) for name, values in SAMPLES.items() for value in values]


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("CHIRON_")]:
        monkeypatch.delenv(name)


def test_every_setting_has_a_sample() -> None:
    assert set(SAMPLES) == set(Settings.model_fields)
    default = read_settings(_env_file=None)
    for name, values in SAMPLES.items():
        assert getattr(read_settings(_env_file=None, **{name: values[0]}), name) != getattr(default, name)


@pytest.mark.parametrize(("name", "value"), SINGLE, ids=lambda value: value if isinstance(value, str) else "")
def test_a_setting_is_read_back_as_it_was_set(name: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = read_settings(_env_file=None, **{name: value})
    monkeypatch.setenv(f"chiron_{name}", "1")  # of another spelling, which would win or not by chance
    variables = process_environment(before)
    for variable in list(os.environ):
        monkeypatch.delenv(variable)
    for variable, text in variables.items():
        monkeypatch.setenv(variable, text)
    assert read_settings(_env_file=None) == before


def test_a_supervised_program_reads_all_settings_back(tmp_path: Path) -> None:
    before = read_settings(_env_file=None, **{name: values[0] for name, values in SAMPLES.items()})
    file = tmp_path / "settings"
    script = (
        "import base64, pathlib, pickle, time; from chiron_workers.settings import read_settings; "
        f"file = pathlib.Path({str(file)!r}); part = file.with_suffix('.part'); "
        "part.write_bytes(base64.b64encode(pickle.dumps(read_settings()))); part.rename(file); time.sleep(300)"
    )
    with tempfile.TemporaryDirectory(prefix="ch") as folder:
        home = Home(Path(folder) / "home")
        home.prepare()
        supervisor = Supervisor(home)
        program = Program("reader", Kind.API, [sys.executable, "-P", "-c", script])
        supervisor.launch([program], process_environment(before))
        try:
            supervisor.start(program)
            wait_until(file.exists, what="the settings that the program reads")
        finally:
            supervisor.stop(within_s=60)
            supervisor.reap()
    assert pickle.loads(base64.b64decode(file.read_bytes())) == before  # noqa: S301  # our program wrote it


def test_a_relative_place_means_the_folder_it_was_set_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools").mkdir()
    monkeypatch.chdir(tmp_path)
    values = {
        "TOOLS": "tools,./more,a.module",
        "SEARCH": "auto,./own.py,brave,a.module",
        "MCP_SERVERS": "mcp.json",
        "SOURCE_KINDS": "kinds.toml",
    }
    (tmp_path / "kinds.toml").write_text('own = ["wiki.firm.example"]')
    for name, value in values.items():
        monkeypatch.setenv(f"CHIRON_{name}", value)
    found = read_settings(_env_file=None)
    assert found.tools == [str(tmp_path / "tools"), str(tmp_path / "more"), "a.module"]
    assert found.search == f"auto,{tmp_path / 'own.py'},brave,a.module"
    assert found.mcp_servers == str(tmp_path / "mcp.json")
    assert found.source_kinds == str(tmp_path / "kinds.toml")


def test_a_wrong_table_of_sources_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kinds.toml"
    monkeypatch.setenv("CHIRON_SOURCE_KINDS", str(file))
    with pytest.raises(
        ConfigurationError, match=r"CHIRON_SOURCE_KINDS: .*kinds.toml: cannot be read: No such file"
    ):
        read_settings(_env_file=None)
    file.write_text('scholarly = ["a.org"]')
    with pytest.raises(
        ConfigurationError, match="'scholarly' is no kind of source; the kinds are academic, "
    ):
        read_settings(_env_file=None)
