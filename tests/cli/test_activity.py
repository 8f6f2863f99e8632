import io
from collections.abc import Callable
from pathlib import Path

from support.pseudo_terminal import output_in_terminal
from support.worker_processes import environment

from chiron_api.cli.display.activity import show_count, steps
from chiron_workers.settings import Settings


class Terminal(io.StringIO):
    """A file that passes for a terminal."""

    def isatty(self) -> bool:
        return True


def test_steps_show_each_sentence_once_it_is_over_and_the_one_under_way() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        with steps(stream) as tell:
            tell("Starting postgres ...")
            tell("Starting worker-1 ...")
    assert pipe.getvalue() == "Starting postgres ...\nStarting worker-1 ...\n"
    output = terminal.getvalue()
    assert "Starting postgres ...\n" in output
    assert "Starting worker-1 ..." in output.rpartition("Starting postgres")[2]


def test_counted_passes_the_items_on_and_counts_them_on_a_terminal_alone() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    for stream in (terminal, pipe):
        assert list(show_count("abc", "Reading documents", stream)) == ["a", "b", "c"]
    assert "Reading documents: 3" in terminal.getvalue()
    assert pipe.getvalue() == ""


def test_corpus_add_counts_its_documents_on_a_terminal(
    settings: Settings, tmp_path: Path, chiron: Callable[..., object]
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.md").write_text(f"# {name}\n\nA polynya is open water, says {name}.")
    output = output_in_terminal(
        "corpus", "add", str(folder), "--subject", "Ice", environment=environment(settings)
    )
    assert "Reading documents: 2" in output
    assert "2 documents read: 2 new" in output
