"""`chiron show BATCH --nothing-found` lists the runs that completed without a fact."""

from support.research_rows import Shelf


def test_show_lists_runs_that_found_nothing_alone_and_counts_them(chiron, shelf: Shelf) -> None:
    batch = shelf.batch(shelf.subject("lakes"))
    shelf.run("lakes", batch, "How deep is Lake Yamdrok?", facts=0)
    shelf.run("lakes", batch, "How deep is Lake Garda?", facts=2)
    shelf.run("lakes", batch, "How deep is Lake Iseo?", facts=0, cited=1)
    all_runs = chiron("show", str(batch)).stdout
    assert all(lake in all_runs for lake in ("Yamdrok", "Garda", "Iseo"))
    alone = chiron("show", str(batch), "--nothing-found").stdout
    assert "Yamdrok" in alone
    assert "Garda" not in alone
    assert "Iseo" not in alone
    results = chiron("results", str(batch)).stdout
    assert results.count("completed, nothing found, 0 new facts") == 1
