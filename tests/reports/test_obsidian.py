import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chiron_api.reports.formats.file_names import file_name
from chiron_api.reports.formats.note_folder import MANIFEST, write_notes
from chiron_api.reports.formats.obsidian import notes
from chiron_api.reports.gathering import gather
from chiron_workers.errors import UsageError

WIKILINK = re.compile(r"\[\[([^\]|]+)\|([^\]]+)\]\]")
RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(10))}


async def test_every_link_between_notes_resolves(sea_ice, pool, tmp_path):
    write_notes(tmp_path / "notes", notes(await gather(pool, sea_ice.batch)))
    files = {
        str(file.relative_to(tmp_path / "notes")): file.read_text()
        for file in (tmp_path / "notes").rglob("*.md")
    }
    assert "Index.md" in files
    links = [found for text in files.values() for found in WIKILINK.findall(text)]
    assert len(links) > 30
    for target, _ in links:
        note, _, block = target.partition("#")
        assert f"{note}.md" in files
        assert not block or re.search(rf" {re.escape(block)}$", files[f"{note}.md"], flags=re.MULTILINE)


async def test_what_obsidian_alone_would_read_as_markup_is_shown_as_it_is(sea_ice, pool):
    said = "Ice is %%not%% ==blue== and #cold, x == y, 5 %."
    sea_ice.shelf.fact("sea-ice", said, "https://g.org/%%x", "thickness/==a== #b", quote=said)
    found = dict(notes(await gather(pool, "sea-ice")))
    bodies = [text.split("---\n\n", 1)[1] for text in found.values()]
    shown = [text for text in bodies if "blue" in text]
    assert r"Ice is \%\%not\%\% \=\=blue\=\= and \#cold, x \=\= y, 5 %." in "".join(shown)
    prose = [re.sub(r"\[\[[^\]]*\]\]|^#+ ", "", text, flags=re.MULTILINE) for text in bodies]
    assert [re.findall(r"%%|==|(?<!\\)#.*", text) for text in prose] == [[]] * len(prose)


async def test_each_note_says_in_its_front_matter_what_it_is(sea_ice, pool):
    found = dict(notes(await gather(pool, sea_ice.batch)))
    fronts = {name: yaml.safe_load(text.split("---\n")[1]) for name, text in found.items()}
    assert fronts["Index.md"]["id"] == str(sea_ice.batch)
    [source] = [front for front in fronts.values() if front.get("address") == "https://a.org/ice"]
    assert (source["title"], source["author"], source["licence"], source["published"]) == (
        "Ice | <today>", "A. Ice", "CC BY 4.0", "2025-05-05"
    )  # fmt: skip
    [name] = [name for name in fronts if name.startswith("Questions/1 ")]
    assert (fronts[name]["run"], fronts[name]["up"]) == (str(sea_ice.run), "[[Index|Index]]")
    of_subject = dict(notes(await gather(pool, "sea-ice")))
    front = yaml.safe_load(of_subject["Topics/arctic.md"].split("---\n")[1])
    assert front["up"] == "[[Topics/thickness|thickness]]"


@given(
    st.lists(
        st.one_of(
            st.text(max_size=300), st.sampled_from(["CON", "a", "A", "á", "a\u0301", "NUL.txt", "..", "a/b"])
        )
    )
)
def test_file_names_suit_windows_macos_and_linux(titles):
    taken: set[str] = set()
    names = [file_name(title, taken) for title in titles]
    assert len({name.casefold() for name in names}) == len(names)
    for name in names:
        assert 0 < len(f"{name}.md".encode()) <= 110
        assert not re.search(r'[<>:"/\\|?*#^\[\]\0-\x1f]', name)
        assert name.partition(".")[0].lower() not in RESERVED
        assert name == name.strip(" .")


def test_a_folder_that_others_filled_is_left_alone_unless_told(tmp_path):
    (tmp_path / "mine.md").write_text("mine")
    with pytest.raises(UsageError, match="holds files that are no report of Chiron's"):
        write_notes(tmp_path, [("Index.md", "new")])
    assert [file.name for file in tmp_path.iterdir()] == ["mine.md"]
    assert write_notes(tmp_path, [("Index.md", "new")], force=True) == 1
    assert (tmp_path / "mine.md").read_text() == "mine"


def test_a_report_takes_the_place_of_the_one_before_and_of_nothing_else(tmp_path):
    folder = tmp_path / "notes"
    write_notes(folder, [("Index.md", "old"), ("Topics/gone.md", "old")])
    (folder / "Topics/mine.md").write_text("mine")
    write_notes(folder, [("Index.md", "new")])
    assert (folder / "Index.md").read_text() == "new"
    assert sorted(file.name for file in (folder / "Topics").iterdir()) == ["mine.md"]


def test_a_note_of_somebody_else_is_in_the_way_and_stays(tmp_path):
    folder = tmp_path / "notes"
    write_notes(folder, [("Index.md", "one")])
    (folder / "Snow.md").write_text("mine")
    with pytest.raises(UsageError, match=r"Snow\.md was not written by Chiron"):
        write_notes(folder, [("Index.md", "two"), ("Snow.md", "theirs")])
    assert ((folder / "Snow.md").read_text(), (folder / "Index.md").read_text()) == ("mine", "one")


def test_nothing_is_written_or_removed_outside_of_the_folder(tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "notes"
    outside.mkdir()
    (outside / "kept.md").write_text("kept")
    write_notes(folder, [("Index.md", "x")])
    (folder / MANIFEST).write_text(
        json.dumps({"notes": ["../outside/kept.md", "/etc/passwd", "Index.md", 3]})
    )
    (folder / "Index.md").unlink()
    (folder / "Index.md").symlink_to(outside / "kept.md")
    (folder / "Topics").symlink_to(outside)
    write_notes(folder, [("Index.md", "new")])
    assert (outside / "kept.md").read_text() == "kept"
    assert not (folder / "Index.md").is_symlink()
    with pytest.raises(UsageError, match="leads out of the folder"):
        write_notes(folder, [("Topics/kept.md", "new")])
    assert (outside / "kept.md").read_text() == "kept"


def test_what_is_no_folder_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    for wrong in (file, Path(tmp_path / "no" / "such")):
        with pytest.raises(UsageError):
            write_notes(wrong, [("Index.md", "x")])
