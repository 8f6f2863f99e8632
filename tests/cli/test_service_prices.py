"""Hosted services without a price are named before anything is spent: by `doctor`, a dry run and a submit."""

import json

import pytest

from chiron_api.local_stack.checks import prices
from chiron_workers.settings import Settings, read_settings

HOSTED = {
    "model": "claude-opus-5-5",
    "search_keys": {"brave": "key"},
    "search_urls": {"searxng": "http://127.0.0.1:1"},
    "search": "auto,duckduckgo",
    "embedding_provider": "voyage",
    "embedding_model": "voyage-3.5",
    "embedding_api_key": "key",
}


def hosted(settings: Settings, **values: object) -> Settings:
    return read_settings(**settings.model_dump(exclude={"service_prices"}) | HOSTED | values)


def test_doctor_names_each_hosted_service_without_a_price_and_the_setting(settings: Settings) -> None:
    problems = prices.checks(hosted(settings))
    assert [check.found.split(" is not known")[0] for check in problems] == [
        "The price of voyage-3.5",
        "The price of brave",
    ]
    assert all("CHIRON_SERVICE_PRICES" in check.advice for check in problems)


def test_doctor_says_that_all_prices_are_known(settings: Settings) -> None:
    priced = {"brave": 0.005, "voyage-3.5": {"per_million_tokens": 0.06}}
    [check] = prices.checks(hosted(settings, service_prices=priced))
    assert (check.ok, check.found) == (
        True,
        "The prices of all hosted services are known: voyage-3.5, brave.",
    )


def test_a_search_provider_with_a_price_by_the_token_has_none(settings: Settings) -> None:
    priced = {"brave": {"per_million_tokens": 1}, "voyage-3.5": 0}
    assert ["brave" in check.found for check in prices.checks(hosted(settings, service_prices=priced))] == [
        True
    ]


def test_without_hosted_services_doctor_says_nothing_of_prices(settings: Settings) -> None:
    assert prices.checks(settings) == []


@pytest.mark.parametrize("flags", [("--dry-run",), ()])
def test_a_dry_run_and_a_submit_name_services_without_a_price(chiron, setting, monkeypatch, flags) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    setting("SEARCH_KEYS", '{"brave": "key"}')
    call = ("submit", "A", "-s", "Ice", "--model", "claude-opus-5-5", *flags)
    assert (
        "Warning: The price of brave is not known: runs that a budget in USD binds do not ask it"
        in chiron(*call).stderr
    )
    if flags:
        [warning] = json.loads(chiron(*call, "--json").stdout)["warnings"]
        assert "CHIRON_SERVICE_PRICES" in warning
    assert "brave" not in chiron("submit", "A", "-s", "Ice", *flags).stderr, (
        "offline runs ask no service of the web"
    )
    setting("SERVICE_PRICES", '{"brave": 0.005}')
    assert "brave" not in chiron(*call).stderr


def test_show_and_report_tell_what_services_cost_apart(chiron, rows) -> None:
    batch_id = json.loads(chiron("submit", "A", "-s", "Ice", "--json").stdout)["batch_id"]
    assert "services" not in chiron("show", batch_id).stdout
    rows("update runs set spent_usd = 0.5, services_usd = 0.015 returning 1")
    [run] = rows("select id from runs")
    for target in (batch_id, str(run["id"])):
        assert "$0.0150 of it, for embeddings and searches" in chiron("show", target).stdout
    assert json.loads(chiron("show", batch_id, "--json").stdout)["services_usd"] == 0.015
    assert "Embeddings and searches of hosted services: $0.0150 of it" in chiron("report", batch_id).stdout
    rows("update runs set unpriced_calls = 1, unpriced_services = 1 returning 1")
    assert "unknown, at least $0.0150, for embeddings and searches" in chiron("show", batch_id).stdout
