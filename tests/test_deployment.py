"""The container image and the Compose file fit the program they run."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
import yaml

from chiron_workers.settings import Settings
from chiron_workers.worker.host import CLOSE_S

ROOT = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]


def test_nothing_is_reachable_from_other_machines():
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_a_worker_gets_more_time_to_stop_than_it_takes():
    worker = SERVICES["worker"]
    takes_s = float(worker["environment"]["CHIRON_DRAIN_S"]) + CLOSE_S
    assert int(worker["stop_grace_period"].removesuffix("s")) > takes_s


def test_compose_sets_only_settings_that_exist():
    known = {f"CHIRON_{name.upper()}" for name in Settings.model_fields}
    named = {name for service in SERVICES.values() for name in service.get("environment", {})}
    assert {name for name in named if name.startswith("CHIRON_")} <= known


def test_every_secret_is_asked_for_and_none_is_written_down():
    text = (ROOT / "docker-compose.yml").read_text()
    secrets = {"POSTGRES_PASSWORD", "VALKEY_PASSWORD", "CHIRON_API_KEY", "CHIRON_FLOWER_PASSWORD"}
    assert set(re.findall(r"\$\{(\w+):\?", text)) == secrets
    assert re.findall(r"\$\{(\w+)(?!\w|:\?)", text) == []
    assert all(f"\n{name}=\n" in (ROOT / ".env.example").read_text() for name in secrets)


def test_each_container_gets_only_its_own_variables():
    assert [name for name, service in SERVICES.items() if "env_file" in service] == []
    names = {name: set(service["environment"]) for name, service in SERVICES.items()}
    shared = {"CHIRON_HOME", "CHIRON_LOG_LEVEL"}
    assert names["migrate"] == shared | {"CHIRON_DATABASE_URL"}
    assert {name for name in names["flower"] - shared if not name.startswith("CHIRON_FLOWER_")} == {
        "CHIRON_REDIS_URL",
        "CHIRON_BROKER_URL",
        "CHIRON_TRUSTED_PROXIES",
    }
    owners = {
        "ANTHROPIC_API_KEY": {"worker"},
        "CHIRON_API_KEY": {"api"},
        "CHIRON_SMTP_PASSWORD": {"worker"},
        "CHIRON_FLOWER_PASSWORD": {"flower"},
        "CHIRON_DATABASE_URL": {"migrate", "worker", "api"},
        "CHIRON_SEARCH_KEYS": {"worker", "api"},
        "CHIRON_EMBEDDING_API_KEY": {"worker", "api"},
        "POSTGRES_PASSWORD": {"postgres"},
    }
    for variable, services in owners.items():
        assert {name for name in names if variable in names[name]} == services


def test_workers_and_api_get_every_setting_that_is_theirs():
    elsewhere = {"CHIRON_API_HOST", "CHIRON_API_PORT", "CHIRON_API_KEY"}
    elsewhere |= {f"CHIRON_FLOWER_{part}" for part in ("HOST", "PORT", "PASSWORD")}
    settings = {f"CHIRON_{name.upper()}" for name in Settings.model_fields} - elsewhere
    assert settings <= set(SERVICES["worker"]["environment"])
    assert settings - {"CHIRON_DRAIN_S", "CHIRON_SMTP_PASSWORD"} <= set(SERVICES["api"]["environment"])


def test_images_are_named_by_exact_version_and_digest():
    images = [service["image"] for service in SERVICES.values() if service["image"] != "chiron:local"]
    images += re.findall(r"^FROM (\S+)", (ROOT / "deploy/Dockerfile").read_text(), re.MULTILINE)
    for image in images:
        assert re.search(r":\d+\.\d+\.\d+(-[\w-]+)?@sha256:[0-9a-f]{64}$", image), image


def test_no_secret_is_an_argument_of_a_process():
    arguments = [
        str(service.get(key, "")) for service in SERVICES.values() for key in ("command", "entrypoint")
    ]
    assert not any("PASSWORD" in text or "KEY" in text for text in arguments)


def test_every_lasting_part_has_a_health_check_and_comes_back():
    inherited = "HEALTHCHECK" in (ROOT / "deploy/Dockerfile").read_text()
    for name, service in SERVICES.items():
        if name != "migrate":
            assert service["restart"] == "always"
            assert "healthcheck" in service or inherited


def test_the_image_is_built_from_files_that_exist_and_does_not_run_as_root():
    text = (ROOT / "deploy/Dockerfile").read_text()
    copied = [
        name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE) for name in line.split()
    ]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    allowed = (ROOT / ".dockerignore").read_text().split()
    assert [name for name in copied if f"!{name}" not in allowed] == []
    assert re.findall(r"^USER (\d+)$", text, re.MULTILINE)[-1] != "0"


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_the_scripts_of_the_checks_can_be_run():
    for name in ("run", "checks"):
        script = ROOT / ".ci" / name
        assert script.stat().st_mode & stat.S_IXUSR
        subprocess.run(["bash", "-n", os.fspath(script)], check=True)
