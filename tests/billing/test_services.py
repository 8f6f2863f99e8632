"""What hosted services charge, as CHIRON_SERVICE_PRICES says it."""

from decimal import Decimal
from typing import Any

import pytest

from chiron_workers.billing.services import Service, embedding_service
from chiron_workers.errors import ConfigurationError
from chiron_workers.settings import read_settings


def service(prices: dict[str, Any], name: str = "s", *, is_by_token: bool = False) -> Service:
    return Service.of(name, read_settings(service_prices=prices).service_prices, is_by_token=is_by_token)


def test_a_number_is_a_price_for_each_call() -> None:
    assert service({"s": 0.005}).cost_usd() == Decimal("0.005")


def test_a_price_by_the_token_is_rounded_up_to_a_millionth_of_a_dollar() -> None:
    by_token = service({"s": {"per_million_tokens": 0.06}}, is_by_token=True)
    assert [by_token.cost_usd(tokens) for tokens in (0, 1, 1_000_000)] == [
        0,
        Decimal("0.000001"),
        Decimal("0.06"),
    ]
    both = service({"s": {"per_million_tokens": 1, "per_call": 0.01}}, is_by_token=True)
    assert both.cost_usd(1000) == Decimal("0.011")


def test_no_price_is_not_a_price_of_zero() -> None:
    assert (service({"s": 0}).is_free, service({"s": 0}).is_unknown) == (True, False)
    assert (service({}).is_free, service({}).is_unknown) == (False, True)
    assert "CHIRON_SERVICE_PRICES" in service({}).unknown_price()


@pytest.mark.parametrize(
    "price", [{}, {"per_token": 1}, -1, "much", {"per_call": -1}, float("nan"), [1], True]
)
def test_what_is_no_price_is_refused(price: object) -> None:
    with pytest.raises(ConfigurationError, match="CHIRON_SERVICE_PRICES: s"):
        read_settings(service_prices={"s": price})


def test_the_embedded_model_is_no_hosted_service() -> None:
    assert embedding_service(read_settings(embedding_provider="minilm")) is None
    hosted = embedding_service(read_settings(embedding_provider="openai", embedding_model="m"))
    assert (hosted is not None and hosted.name, hosted is not None and hosted.is_unknown) == ("m", True)
