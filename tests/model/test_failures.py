from collections.abc import Mapping

import pytest

from chiron_workers.model.failures import (
    HOLD_MAX_S,
    RAMP_S,
    REFUSAL_S,
    SPEND_HOLD_S,
    classify,
    retry_after_s_of,
)
from chiron_workers.model.faults import StatusError

DATE = "Sun, 22 Nov 2026 12:00:00 GMT"


def refusal(
    status: int,
    type: str = "rate_limit_error",
    message: str = "no",
    code: str = "",
    headers: Mapping[str, str] | None = None,
) -> Exception:
    error = {"type": type, "message": message, **({"details": {"error_code": code}} if code else {})}
    body = {"type": "error", "error": error}
    return StatusError(status, headers or {}, body)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "0"}, 0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "Sun, 22 Nov 2026 12:00:42 GMT", "date": DATE}, 42),
        ({"retry-after": "Sun, 22 Nov 2026 11:00:00 GMT", "date": DATE}, 0),
        ({"retry-after": "86400"}, HOLD_MAX_S),
        ({"retry-after": "inf"}, HOLD_MAX_S),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
        (
            {
                "date": DATE,
                "anthropic-ratelimit-requests-remaining": "12",
                "anthropic-ratelimit-requests-reset": "2026-11-22T12:59:00Z",
                "anthropic-ratelimit-input-tokens-remaining": "0",
                "anthropic-ratelimit-input-tokens-reset": "2026-11-22T12:00:20Z",
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2026-11-22T12:00:30Z",
            },
            30,
        ),
        ({"anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": "?"}, None),
    ],
)
def test_how_long_a_server_asks_to_wait_is_read_in_each_form_and_capped(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s_of(headers) == seconds


@pytest.mark.parametrize(
    "error",
    [
        refusal(429, code="enforced_spend_limit_reached"),
        refusal(429, code="contract_spend_limit_reached"),
        refusal(402, "billing_error", code="linked_organization_spend_limit_reached"),
        refusal(402, "billing_error", "Pay first"),
        refusal(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    ],
)
def test_what_the_account_may_not_spend_is_waited_for_by_everybody_and_fails_nobody(error: Exception) -> None:
    found = classify(error)
    assert (found.seconds, found.is_full, found.fatal) == (SPEND_HOLD_S, True, None)
    assert "spend limit of the account" in found.reason


def test_a_limit_on_growth_is_waited_for_as_long_as_the_server_says() -> None:
    told = classify(refusal(429, code="ramp_limit_exceeded", headers={"retry-after": "12"}))
    assert (told.seconds, told.is_full) == (12, True)
    assert classify(refusal(429, code="ramp_limit_exceeded")).seconds == RAMP_S


@pytest.mark.parametrize(
    ("status", "is_full"), [(429, True), (529, True), (500, False), (503, False), (408, False), (409, False)]
)
def test_only_a_model_that_turns_everybody_away_is_full(status: int, is_full: bool) -> None:
    found = classify(refusal(status))
    assert (found.is_full, found.fatal) == (is_full, None)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "request"),
        (404, "model"),
        (413, "request"),
        (422, "request"),
    ],
)
def test_what_can_never_succeed_says_so_in_the_servers_words(status: int, kind: str) -> None:
    found = classify(refusal(status, message="messages.3: unknown block"))
    assert found.fatal is not None
    assert found.fatal.kind == kind
    assert "messages.3: unknown block." in str(found.fatal)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_waited_for_by_everybody_and_fails_nobody(status: int) -> None:
    failure = classify(refusal(status, message="invalid x-api-key"))
    assert (failure.fatal, failure.is_full, failure.is_key_refused) == (None, True, True)
    assert (failure.seconds, failure.maybe_billed) == (REFUSAL_S, False)
    assert "invalid x-api-key." in failure.reason


def test_a_proxy_without_a_database_of_keys_refuses_the_key_with_400() -> None:
    failure = classify(refusal(400, type="no_db_connection", message="No connected db."))
    assert (failure.fatal, failure.is_key_refused) == (None, True)
    assert failure.reason == "The model refuses the key (400): No connected db. Check ANTHROPIC_API_KEY."


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_waited_for_and_names_where_it_leads(status: int) -> None:
    failure = classify(refusal(status, headers={"location": "https://login.example/"}))
    assert (failure.fatal, failure.is_full, failure.maybe_billed) == (None, True, False)
    assert "https://login.example/" in failure.reason


def test_a_refusal_that_the_server_wants_repeated_is_repeated() -> None:
    assert classify(refusal(400, headers={"x-should-retry": "true"})).fatal is None
