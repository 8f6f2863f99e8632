"""A submit says at once that no key for its model is set."""

import pytest

CLAUDE = ("submit", "Read https://example.org/a", "-s", "Sea ice", "--model", "claude-opus-5-5")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_a_submit_without_a_key_says_how_to_set_one(chiron) -> None:
    submitted = chiron(*CLAUDE)
    assert submitted.exit_code == 0
    *_, line = submitted.stderr.splitlines()
    assert line.startswith("Warning: No key for claude-opus-5-5 is set here.")
    assert "ANTHROPIC_API_KEY" in line


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"])
def test_a_key_or_a_server_that_may_need_none_is_enough(chiron, monkeypatch, name: str) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert "Warning" not in chiron(*CLAUDE).stderr


def test_the_offline_researcher_needs_no_key(chiron) -> None:
    assert "No key" not in chiron("submit", "A", "-s", "Sea ice", "--model", "offline").stderr
