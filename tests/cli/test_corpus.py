import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from support.json_lines import json_lines
from typer.testing import CliRunner

from chiron_api.cli import build
from chiron_api.services import open_services
from chiron_workers.settings import settings
from chiron_workers.tools.knowledge import store_knowledge

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
    assert (
        "2 documents read: 2 new, 0 changed, 0 unchanged; 0 gone, 2 skipped. 2 passages can be searched."
        in added.output
    )
    listed = chiron("corpus", "list", "--subject", "my-garden")
    assert "corpus://my-garden/deep/frost.txt  frost  (45 characters)" in listed.output
    found = chiron("corpus", "search", "When do I prune roses?", "--subject", "My Garden")
    assert found.output.splitlines()[0].endswith("Roses")
    assert "corpus://my-garden/roses.md" in found.output


def test_it_says_which_documents_are_new_changed_unchanged_or_gone(chiron: Chiron, folder: Path) -> None:
    (folder / "herbs.txt").write_text("Basil wants warmth, and mint wants shade.")
    assert "3 new, 0 changed, 0 unchanged; 0 gone" in chiron("corpus", "add", folder, "-s", "garden").output
    (folder / "roses.md").write_text("# Roses\n\nPrune roses in February.")
    (folder / "deep" / "frost.txt").unlink()
    added = chiron("corpus", "add", folder, "-s", "garden").output.splitlines()
    assert (
        "2 documents read: 0 new, 1 changed, 1 unchanged; 1 gone, 2 skipped. 2 passages can be searched."
        in added
    )
    assert ("Changed: roses.md" in added, "Gone: deep/frost.txt" in added) == (True, True)
    assert "frost" not in chiron("corpus", "list", "-s", "garden").output
    (folder / "roses.md").unlink()
    told = json.loads(chiron("corpus", "add", folder / "herbs.txt", "-s", "garden", "--json").stdout)
    assert (told["unchanged"], told["gone"]) == (1, []), "beside a single file nothing is missing"
    told = json.loads(chiron("corpus", "add", folder, "-s", "garden", "--json").stdout)
    assert (told["new"], told["changed"], told["gone"]) == ([], [], ["corpus://garden/roses.md"])


def test_facts_follow_their_documents_and_the_difference_knows_it_without_a_run(
    chiron: Chiron, folder: Path, tmp_path: Path
) -> None:
    chiron("corpus", "add", folder, "-s", "garden")
    asyncio.run(state_from_corpus("Prune roses in March.", "corpus://garden/roses.md"))
    (folder / "roses.md").write_text("# Roses\n\nPrune roses in February.")
    told = json.loads(chiron("corpus", "add", folder, "-s", "garden", "--json").stdout)
    assert [(fact["url"], fact["ground"]) for fact in told["facts"]] == [
        ("corpus://garden/roses.md", "source changed")
    ]
    difference = json.loads(chiron("diff", "-s", "garden", "--since", "2020-01-01", "--json").stdout)
    assert difference["counts"]["sources_changed"] == 1
    found = json.loads(chiron("search", "roses", "-s", "garden", "--candidates", "--json").stdout)
    assert [(fact["status"], fact["ground"]) for fact in found] == [("superseded", "source changed")]
    assert "source changed" in chiron("search", "roses in March", "-s", "garden", "--candidates").output
    (folder / "roses.md").write_text("# Roses\n\nPrune roses in March.")
    assert "0 facts rest on words that are gone, 1 has its words again" in (
        chiron("corpus", "add", folder, "-s", "garden").output
    )


async def state_from_corpus(content: str, url: str) -> None:
    async with open_services(settings(), pool_size=2) as services, services.store() as store:
        await store_knowledge(
            store, content=content, quote=content, subject_id="garden", source_url=url, source_score=0.9,
            topic_path="a/b", confidence=0.9,
        )  # fmt: skip


def test_scripts_read_json(chiron: Chiron, folder: Path) -> None:
    chiron("corpus", "add", folder, "--subject", "garden")
    added = json.loads(chiron("corpus", "add", folder, "--subject", "garden", "--json").stdout)
    assert {key: added[key] for key in ("added", "replaced", "passages")} == {
        "added": 0,
        "replaced": 2,
        "passages": 2,
    }
    assert [one["path"] for one in added["skipped"]] == ["photo.png", "rubbish.txt"]
    listed = json_lines(chiron("corpus", "list", "--json").stdout)
    assert [one["title"] for one in listed] == ["frost", "Roses"]
    (hit,) = json_lines(chiron("corpus", "search", "plum blossom", "--subject", "garden", "--json").stdout)
    assert set(hit) == {"url", "title", "score", "snippet"}
    assert hit["url"] == "corpus://garden/deep/frost.txt"


def test_a_single_file_is_added_under_its_name(chiron: Chiron, folder: Path) -> None:
    chiron("corpus", "add", folder / "deep" / "frost.txt", "--subject", "garden")
    assert "corpus://garden/frost.txt" in chiron("corpus", "list").output


def test_an_emptied_folder_leaves_nothing_behind(chiron: Chiron, tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "a.txt").write_text("Basil wants warmth.")
    first = chiron("corpus", "add", root, "-s", "garden")
    assert "1 document read: 1 new, 0 changed, 0 unchanged; 0 gone, 0 skipped. 1 passage can" in first.output
    (root / "a.txt").unlink()
    emptied = chiron("corpus", "add", root, "-s", "garden")
    assert emptied.exit_code == 0, emptied.output
    assert "Gone: a.txt" in emptied.output
    assert "The corpus is empty" in chiron("corpus", "list").output
    assert chiron("corpus", "add", root, "-s", "garden").exit_code == 2


def test_of_a_subject_without_documents_nothing_more_is_said(chiron: Chiron, folder: Path) -> None:
    chiron("corpus", "add", folder, "-s", "garden")
    listed = chiron("corpus", "list", "-s", "moon")
    assert (listed.exit_code, listed.output) == (
        0,
        "The corpus has no documents for 'moon'. Add documents with `chiron corpus add PATH --subject moon`.\n",
    )
    assert chiron("corpus", "list", "-s", "Sea ice").output.endswith("--subject 'Sea ice'`.\n")


def test_files_of_one_name_from_two_folders_are_kept_apart(chiron: Chiron, tmp_path: Path) -> None:
    for name, words in (("a", "Basil wants warmth."), ("b", "Mint wants shade.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "herbs.txt").write_text(words)
    chiron("corpus", "add", tmp_path / "a", "-s", "garden")
    added = chiron("corpus", "add", tmp_path / "b", "-s", "garden")
    assert "Kept beside another file of this name: b/herbs.txt" in added.output
    urls = ["corpus://garden/b/herbs.txt", "corpus://garden/herbs.txt"]
    assert [row["url"] for row in json_lines(chiron("corpus", "list", "--json").stdout)] == urls
    for name in ("a", "b"):
        again = json.loads(chiron("corpus", "add", tmp_path / name, "-s", "garden", "--json").stdout)
        assert (again["unchanged"], again["gone"]) == (1, []), "each is known by where it lies"
    (tmp_path / "b" / "herbs.txt").write_bytes(bytes(range(256)))
    assert json.loads(chiron("corpus", "add", tmp_path / "b", "-s", "garden", "--json").stdout)["gone"] == []
    (tmp_path / "b" / "herbs.txt").unlink()
    gone = json.loads(chiron("corpus", "add", tmp_path / "b", "-s", "garden", "--json").stdout)["gone"]
    assert gone == urls[:1]


def test_a_folder_that_moved_is_the_same_folder(chiron: Chiron, folder: Path) -> None:
    chiron("corpus", "add", folder, "-s", "garden")
    moved = folder.rename(folder.with_name("moved"))
    added = json.loads(chiron("corpus", "add", moved, "-s", "garden", "--json").stdout)
    assert (added["new"], added["unchanged"]) == ([], 2)


def test_a_line_break_in_a_files_name_breaks_no_line(chiron: Chiron, tmp_path: Path) -> None:
    (tmp_path / "a\nb.png").write_bytes(b"x")
    (tmp_path / "c.txt").write_text("Basil wants warmth.")
    assert "Skipped a b.png: its format" in chiron("corpus", "add", tmp_path, "-s", "garden").output


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
    assert json_lines(chiron("corpus", "search", "zeppelin", "--subject", "garden", "--json").stdout) == []
