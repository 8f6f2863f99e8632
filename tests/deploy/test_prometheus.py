"""The alert rules and the dashboard of deploy/, held against what /metrics exposes."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client import Metric

from chiron_api.http.exposition import Exposition
from chiron_workers import instruments
from chiron_workers.db.connect import open_pool
from chiron_workers.settings import Settings

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus" / "rules.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "chiron.json"
NAME = re.compile(r"\b(?:chiron|gen_ai)_\w+")
NO_METRIC = {"gen_ai_request_model", "gen_ai_tool_name"}  # labels
SAMPLES = {
    "counter": ("_total",),
    "gauge": ("",),
    "histogram": ("_bucket", "_count", "_sum"),
}


def expressions() -> list[str]:
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    panels = json.loads(DASHBOARD.read_text())["panels"]
    return [rule["expr"] for rule in rules] + [
        target["expr"] for panel in panels for target in panel["targets"]
    ]


def names_of(families: list[Metric]) -> set[str]:
    return {f"{family.name}{suffix}" for family in families for suffix in SAMPLES[family.type]}


async def test_every_metric_that_a_rule_or_a_panel_names_is_exposed(settings: Settings) -> None:
    settings = settings.model_copy(update={"daily_budget_usd": 100})
    async with open_pool(settings.database_url, size=2) as pool:
        exposed = names_of(await Exposition(settings, pool).families())
    named = {name for expression in expressions() for name in NAME.findall(expression)} - NO_METRIC
    assert named
    assert named - exposed == set()


def test_every_instrument_of_workers_is_on_the_dashboard() -> None:
    shown = " ".join(expressions())
    assert [family.name for family in instruments.REGISTRY.collect() if family.name not in shown] == []


def test_every_alert_says_what_happened_and_what_to_do() -> None:
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            assert rule["labels"]["severity"] in ("warning", "critical")
            assert all(rule["annotations"][part].endswith(".") for part in ("summary", "description"))


def promtool(*arguments: str | Path, stdin: bytes | None = None) -> None:
    """Run it; fails the test with what it says where it finds fault."""
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool, of Debian's package prometheus, is not installed")
    report = subprocess.run([program, *arguments], input=stdin, capture_output=True, timeout=120, check=False)
    assert report.returncode == 0, (report.stdout + report.stderr).decode()


def test_the_rules_are_quiet_on_a_good_day_and_fire_on_a_bad_one() -> None:
    promtool("check", "rules", RULES)
    promtool("test", "rules", Path(__file__).with_name("rules_test.yml"))


async def test_what_is_exposed_is_as_prometheus_wants_it(settings: Settings) -> None:
    async with open_pool(settings.database_url, size=2) as pool:
        text = await Exposition(settings, pool).text()
    promtool("check", "metrics", stdin=text)
