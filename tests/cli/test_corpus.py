import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from chiron_api.cli import build
from chiron_workers.settings import settings

Chiron = Callable[..., Result]


@pytest.fixture
def chiron(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Chiron]:
    """`chiron("corpus", "list")`: a command run on the test's own database."""
    monkeypatch.setenv("CHIRON_DATABASE_URL", database_url)
    monkeypatch.setenv("CHIRON_HOME", str(tmp_path / "home"))
    settings.cache_clear()
    yield lambda *arguments: CliRunner().invoke(build(), [str(argument) for argument in arguments])
    settings.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "deep").mkdir(parents=True)
    (root / "roses.md").write_text("# Roses\n\nPrune roses in March.")
    (root / "deep" / "frost.txt").write_text("A late frost kills the blossom of plum trees.")
    (root / "photo.png").write_bytes(b"\x89PNG")
    (root / "rubbish.txt").write_bytes(bytes(range(256)))
    return root


def test_a_folder_is_added_listed_and_searched(chiron: Chiron, folder: Path) -> None:
    added = chiron("corpus", "add", folder, "--subject", "My Garden")
    assert added.exit_code == 0, added.output
    assert "Skipped photo.png: its format is none of" in added.output
    assert "Skipped rubbish.txt: it is binary, not text." in added.output
    assert "2 documents added, 0 replaced, 2 skipped; 2 passages can be searched." in added.output
    listed = chiron("corpus", "list", "--subject", "my-garden")
    assert "corpus://my-garden/deep/frost.txt  frost  (45 characters)" in listed.output
    found = chiron("corpus", "search", "When do I prune roses?", "--subject", "My Garden")
    assert found.output.splitlines()[0].endswith("Roses")
    assert "corpus://my-garden/roses.md" in found.output


def test_scripts_read_json(chiron: Chiron, folder: Path) -> None:
    chiron("corpus", "add", folder, "--subject", "garden")
    added = json.loads(chiron("corpus", "add", folder, "--subject", "garden", "--json").stdout)
    assert {key: added[key] for key in ("added", "replaced", "passages")} == {
        "added": 0,
        "replaced": 2,
        "passages": 2,
    }
    assert [one["path"] for one in added["skipped"]] == ["photo.png", "rubbish.txt"]
    listed = json.loads(chiron("corpus", "list", "--json").stdout)
    assert [one["title"] for one in listed] == ["frost", "Roses"]
    (hit,) = json.loads(chiron("corpus", "search", "plum blossom", "--subject", "garden", "--json").stdout)
    assert set(hit) == {"url", "title", "score", "snippet"}
    assert hit["url"] == "corpus://garden/deep/frost.txt"


def test_a_single_file_is_added_under_its_name(chiron: Chiron, folder: Path) -> None:
    chiron("corpus", "add", folder / "deep" / "frost.txt", "--subject", "garden")
    assert "corpus://garden/frost.txt" in chiron("corpus", "list").output


def test_a_path_that_does_not_exist_is_a_wrong_call(chiron: Chiron, tmp_path: Path) -> None:
    found = chiron("corpus", "add", tmp_path / "nothing", "--subject", "garden")
    assert found.exit_code == 2
    assert "nothing does not exist." in found.output


def test_a_folder_without_documents_is_a_wrong_call(chiron: Chiron, folder: Path) -> None:
    found = chiron("corpus", "add", folder / "photo.png", "--subject", "garden")
    assert found.exit_code == 2
    assert "Skipped photo.png" in found.output
    assert "holds no document that could be read" in found.output


def test_an_empty_corpus_says_how_to_fill_it(chiron: Chiron) -> None:
    assert "chiron corpus add PATH --subject S" in chiron("corpus", "list").output
    found = chiron("corpus", "search", "roses", "--subject", "garden")
    assert found.exit_code == 1
    assert "chiron corpus add PATH --subject garden" in found.output


def test_a_search_that_finds_nothing_says_so(chiron: Chiron, folder: Path) -> None:
    chiron("corpus", "add", folder, "--subject", "garden")
    assert "Nothing was found." in chiron("corpus", "search", "zeppelin", "--subject", "garden").output
    assert json.loads(chiron("corpus", "search", "zeppelin", "--subject", "garden", "--json").stdout) == []
