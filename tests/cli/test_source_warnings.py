"""A subject without any source warns at submit and in watch."""

import json


def test_a_subject_without_any_source_warns_at_submit_and_in_watch(chiron, rows):
    call = ("submit", "A", "-s", "Sea ice", "--json")
    submitted = chiron(*call)
    assert "Warning: The subject sea-ice has no document" in submitted.stderr
    assert "chiron corpus add" in submitted.stderr
    batch_id = json.loads(submitted.stdout)["batch_id"]
    rows("update runs set state = 'paused' returning 1")
    rows("update batches set open_runs = 0, finished_at = now() returning 1")
    assert "Warning: The subject sea-ice has no document" in chiron("watch", batch_id).stderr


def test_documents_a_search_of_the_web_or_an_address_are_sources(chiron, setting, tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    claude = ("--model", "claude-opus-5-5")
    assert "Warning" not in chiron("submit", "A", "-s", "Sea ice", *claude).stderr  # Anthropic's own search
    setting("CLAUDE_SEARCH", "false")
    setting("SEARCH", "corpus")
    assert "Warning" in chiron("submit", "A", "-s", "Sea ice", *claude).stderr
    assert "Warning" not in chiron("submit", "Read https://example.org/a", "-s", "Sea ice", *claude).stderr
    (tmp_path / "a.md").write_text("# Ice\n\nIce is frozen water.")
    assert chiron("corpus", "add", "a.md", "-s", "Sea ice").exit_code == 0
    assert "Warning" not in chiron("submit", "B", "-s", "Sea ice", *claude).stderr
