import asyncio
import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copy

import pytest
from support.pdf_files import beside, pdf_file
from support.word_files import paragraph, word_file

from chiron_workers.documents.sandbox.sandbox import JOBS_MAX
from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.runs.session import Caller, Session
from chiron_workers.settings import settings
from chiron_workers.store import Store
from chiron_workers.tools import registry
from chiron_workers.tools.files import WINDOW_CHARS, file_reader
from chiron_workers.tools.folders import ENTRIES_MAX
from chiron_workers.tools.knowledge import store_knowledge

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def allow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """`allow(folder)`: the folders that may be read, as the environment would say."""

    def change(*folders: Path, **other: str) -> None:
        monkeypatch.setenv("CHIRON_FILES", ":".join(map(str, folders)))
        for name, value in other.items():
            monkeypatch.setenv(f"CHIRON_{name.upper()}", value)
        settings.cache_clear()

    yield change
    settings.cache_clear()


@pytest.fixture
def folder(tmp_path: Path, allow: Callable[..., None]) -> Path:
    """A folder that may be read."""
    root = (tmp_path / "papers").resolve()
    root.mkdir()
    allow(root)
    return root


async def test_without_an_allowed_folder_it_says_how_to_allow_one(
    store: Store, allow: Callable[..., None]
) -> None:
    allow()
    for path in ("", "/etc/passwd"):
        with pytest.raises(ToolError, match=r"No folder may be read.*CHIRON_FILES=/home/me/papers"):
            await file_reader(store, path=path)
    assert not store.session.reads_private, "nothing could be read"


async def test_a_file_gives_its_text_marked_as_a_quotation(store: Store, folder: Path) -> None:
    copy(GOLDEN / "moons.pdf", folder)
    found = await file_reader(store, path="moons.pdf", range="2")
    assert found.pop("modified_at")
    assert "not instructions" in str(found.pop("notice"))
    assert found == {
        "path": str(folder / "moons.pdf"),
        "url": f"file://{folder}/moons.pdf?range=2-2",
        "kind": "pdf",
        "title": "Moons of Mars",
        "text": "[Page 2]\n\nSecond page with characterisation.",
        "chars": 44,
        "next_offset": None,
        "unit": "pages",
        "count": 2,
        "first": 2,
        "last": 2,
    }


async def test_sheets_and_delimiters_are_told(store: Store, folder: Path) -> None:
    copy(GOLDEN / "rain.xlsx", folder)
    copy(GOLDEN / "beds-cp1252.csv", folder)
    book = await file_reader(store, path="rain.xlsx", sheet="Notes 2024")
    assert (book["sheet"], book["sheets"], book["text"]) == (
        "Notes 2024",
        ["Rain", "Notes 2024"],
        ",below the gap",
    )
    assert (await file_reader(store, path="beds-cp1252.csv"))["delimiter"] == ";"


async def test_a_long_text_comes_in_windows_that_end_with_a_line(store: Store, folder: Path) -> None:
    text = "\n".join(f"line {n} of a long file" for n in range(3_000))
    (folder / "long.py").write_text(text)
    found = await file_reader(store, path="long.py")
    parts = [found["text"]]
    while found["next_offset"] is not None:
        found = await file_reader(store, path="long.py", offset=found["next_offset"])
        parts.append(found["text"])
    assert "".join(parts) == text
    assert max(map(len, parts)) <= WINDOW_CHARS
    assert all(part.endswith("\n") for part in parts[:-1])
    with pytest.raises(ToolError, match="offset: 900000 is past the end of the text, which has 73,889"):
        await file_reader(store, path="long.py", offset=900_000)


@pytest.mark.parametrize(
    ("range", "lines"),
    [("3-5", (3, 5)), ("7", (7, 7)), (7, (7, 7)), ("8-", (8, 10)), ("-2", (1, 2)), (" 2 .. 3 ", (2, 3)), ("9-99", (9, 10)),
     ("", (1, 10))],
)  # fmt: skip
async def test_a_range_is_read_as_people_write_it(
    store: Store, folder: Path, range: str | int, lines: tuple[int, int]
) -> None:
    (folder / "a.txt").write_text("\n".join(f"line {n}" for n in [*"123456789", 10]) + "\n")
    found = await file_reader(store, path="a.txt", range=range)
    assert (found["first"], found["last"], found["count"]) == (*lines, 10)
    assert found["text"].split("\n")[0] == f"line {lines[0]}"


async def test_a_range_that_is_none_is_refused(store: Store, folder: Path) -> None:
    (folder / "a.txt").write_text("text")
    for wrong in ("5-3", "0", "0-4", "x", "-", "1-2-3", "1,2", "9" * 20):
        with pytest.raises(ToolValidationError, match=r"^range: must"):
            await file_reader(store, path="a.txt", range=wrong)
    with pytest.raises(
        ToolError, match=r"'a.txt' cannot be read: it has 1 lines, and none has the number 3."
    ):
        await file_reader(store, path="a.txt", range="3")


async def test_a_folder_is_listed_in_parts(store: Store, folder: Path) -> None:
    (folder / "deep").mkdir()
    (folder / "deep" / "ü\n.txt").write_text("four")
    (folder / ".hidden").write_text("secret")
    roots = await file_reader(store)
    assert [(one["name"], one["kind"]) for one in roots["entries"]] == [(str(folder), "folder")]
    [entry] = (await file_reader(store, path="deep"))["entries"]
    assert (entry["name"], entry["kind"], entry["bytes"]) == ("ü\n.txt", "file", 4)
    assert [one["name"] for one in (await file_reader(store, path=str(folder)))["entries"]] == ["deep"]
    for n in range(ENTRIES_MAX + 1):
        (folder / "deep" / f"{n:04}").touch()
    first = await file_reader(store, path="deep")
    assert (len(first["entries"]), first["count"], first["next_offset"]) == (500, 502, 500)
    rest = await file_reader(store, path="deep", offset=500)
    assert (len(rest["entries"]), rest["next_offset"]) == (2, None)


async def test_names_that_are_no_text_are_listed_all_the_same(store: Store, folder: Path) -> None:
    (folder / "a\udcff.txt").write_text("text")
    found = await file_reader(store, path=".")
    assert found["entries"][0]["name"] == "a\ufffd.txt"
    json.dumps(found).encode()


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/etc/passwd", r"'/etc/passwd' cannot be read: it is not below a folder that may be read \(/.*papers\)."),
        ("../x", "is not below a folder that may be read"),
        ("nothing.txt", "'nothing.txt' cannot be read: there is no such file."),
        ("photo.txt", "'photo.txt' cannot be read: it is a PNG picture."),
        ("big.txt", "it is larger than 1,000 bytes; CHIRON_FILE_BYTES_MAX allows more."),
        ("a\0b", "cannot be read: that is no path."),
    ],
)  # fmt: skip
async def test_what_cannot_be_read_is_a_sentence(
    store: Store, folder: Path, allow: Callable[..., None], path: str, sentence: str
) -> None:
    allow(folder, file_bytes_max="1000")
    (folder / "photo.txt").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "big.txt").write_bytes(b"x" * 1_001)
    with pytest.raises(ToolError, match=sentence):
        await file_reader(store, path=path)


async def test_a_run_that_read_a_file_is_marked(
    store: Store, folder: Path, in_a_run: Caller, pool, embedder
) -> None:
    async with Store(Session(pool, in_a_run), embedder) as of_run:
        with pytest.raises(ToolError):
            await file_reader(of_run, path="nothing")
        assert await of_run.egress.is_tainted()


async def test_it_is_offered_to_agents(store: Store, folder: Path) -> None:
    (folder / "a.txt").write_text("one\ntwo")
    found = await registry().execute("file_reader", store, {"path": "a.txt", "range": 2, "offset": "0"})
    assert found["text"] == "two"


async def test_a_fact_can_rest_on_what_was_read(folder: Path, in_a_run: Caller, pool, embedder) -> None:
    copy(GOLDEN / "moons.pdf", folder)
    async with Store(Session(pool, in_a_run), embedder) as of_run:
        found = await file_reader(of_run, path="moons.pdf")
        fact = {
            "subject_id": "Moon", "source_url": found["url"], "source_score": 0.8, "topic_path": "mars", "confidence": 0.8,
        }  # fmt: skip
        quote = "Mars has two moons, Phobos and Deimos"
        stored = await store_knowledge(of_run, content="Mars has two moons.", quote=quote, **fact)
        assert stored["status"] == "stored"
        with pytest.raises(ToolError, match=r"^quote: "):
            await store_knowledge(
                of_run, content="Mars has three moons.", quote="Mars has three moons", **fact
            )


async def test_a_word_file_keeps_its_signs_and_says_what_it_leaves_out(store: Store, folder: Path) -> None:
    micro = '<w:r><w:sym w:font="Symbol" w:char="F06D"/></w:r>'
    comment = "<w:r><w:commentReference w:id='1'/></w:r>"
    (folder / "dose.docm").write_bytes(word_file(paragraph("A dose of 5 ", micro, "g is safe.", comment)))
    found = await file_reader(store, path="dose.docm")
    assert (found["text"], found["left_out"]) == ("A dose of 5 µg is safe.", "1 comment (paragraph 1)")


async def test_no_fact_rests_on_a_quote_across_the_columns_of_a_pdf(
    folder: Path, in_a_run: Caller, pool, embedder
) -> None:
    left = (
        "The northern quay was built in 1911",
        "and it is in use to this day, since",
        "its piles are of hard wood.",
    )
    right = (
        "The southern quay was built in 1965",
        "and it was closed to all ships in",
        "the winter after the storm.",
    )
    (folder / "quays.pdf").write_bytes(pdf_file(beside(left, right, xs=(60, 320))))
    async with Store(Session(pool, in_a_run), embedder) as of_run:
        found = await file_reader(of_run, path="quays.pdf")
        fact = {
            "subject_id": "Moon", "source_url": found["url"], "source_score": 0.8, "topic_path": "quays", "confidence": 0.8,
        }  # fmt: skip
        quote = "The northern quay was built in 1911 and it is in use to this day"
        stored = await store_knowledge(
            of_run, content="The northern quay was built in 1911.", quote=quote, **fact
        )
        assert stored["status"] == "stored"
        across = "The northern quay was built in 1911 The southern quay was built in 1965"
        with pytest.raises(ToolError, match=r"^quote: "):
            await store_knowledge(of_run, content="Both quays are old.", quote=across, **fact)


async def test_a_text_that_is_too_long_to_be_kept_has_no_address(store: Store, folder: Path) -> None:
    (folder / "long.txt").write_text("word " * 500_000)
    found = await file_reader(store, path="long.txt")
    assert "url" not in found
    assert found["next_offset"] == WINDOW_CHARS


async def test_many_calls_at_once_hold_the_bytes_of_few_files(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, calls = 1_000_000, 6 * JOBS_MAX
    (folder / "long.txt").write_text("moon\n" * (size // 5))
    monkeypatch.setenv("CHIRON_FILE_BYTES_MAX", str(size))
    settings.cache_clear()
    tracemalloc.start()
    try:
        found = await asyncio.gather(*(file_reader(store, path="long.txt", range="1") for _ in range(calls)))
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == calls
    assert peak_bytes < 4 * JOBS_MAX * size  # each file once more while it is sent to its process


async def test_a_file_tells_who_wrote_it_and_what_became_of_it_since_it_was_read(
    store: Store, folder: Path
) -> None:
    file = folder / "ice.md"
    file.write_text(
        "---\nauthor: A. Hall\ndate: 2024-03-01\nlicence: CC0\n---\n\nThe ice floats on water. It is thick.\n"
    )
    first = await file_reader(store, path="ice.md")
    assert (first["author"], first["published_at"], first["licence"]) == ("A. Hall", "2024-03-01", "CC0")
    assert "changed" not in first
    quote = {"quote": "The ice floats on water.", "content": "Ice floats.", "source_url": first["url"]}
    scores = {"source_score": 0.9, "confidence": 0.9, "topic_path": "ice"}
    stored = await store_knowledge(store, subject_id="Ice", **quote, **scores)
    await store.session.commit()
    file.write_text("It sinks. It is thick.\n")
    assert stored["fact_id"] in (await file_reader(store, path="ice.md"))["changed"]
    file.unlink()
    with pytest.raises(ToolError, match=r"no such file\. It was last read on .*, and 1 fact rests on it"):
        await file_reader(store, path="ice.md")
    gone = (await store.source_changes.of([first["url"]]))[first["url"]]
    assert gone.mark(stored["fact_id"]).startswith("source gone since")


async def test_a_file_that_is_gone_takes_its_parts_along_and_a_folder_that_is_not_mounted_does_not(
    store: Store, folder: Path
) -> None:
    file = folder / "lines 1%.txt"
    file.write_text("one\ntwo\nthree\n")
    (folder / "lines 1%.txt2").write_text("another")
    urls = [(await file_reader(store, path=file.name, range=part))["url"] for part in (None, "2-3", "3")] + [
        (await file_reader(store, path=f"{file.name}2"))["url"]
    ]
    file.unlink()
    aside = folder.rename(folder.with_name("aside"))
    with pytest.raises(ToolError, match="no such file"):
        await file_reader(store, path=file.name)
    assert await store.source_changes.of(urls) == {}
    aside.rename(folder)
    with pytest.raises(ToolError, match="no such file"):
        await file_reader(store, path=file.name)
    assert set(await store.source_changes.of(urls)) == set(urls[:3])


async def test_reading_on_in_a_file_means_the_text_that_was_begun(store: Store, folder: Path) -> None:
    file = folder / "long.txt"
    file.write_text("".join(f"Line {n}.\n" for n in range(5_000)))
    first = await file_reader(store, path="long.txt")
    file.write_text("short")
    assert first["next_offset"]
    rest = await file_reader(store, path="long.txt", offset=first["next_offset"])
    assert rest["text"].startswith("Line ")
    assert (await file_reader(store, path="long.txt"))["text"] == "short"
