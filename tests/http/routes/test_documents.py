import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

import httpx2
import pytest

from chiron_api.http import bodies
from chiron_workers.settings import Settings

Serving = Callable[[Settings], AbstractAsyncContextManager[httpx2.AsyncClient]]
PATH = "/v1/subjects/Sea%20ice/documents"
TEXT = "# Polynyas\n\nA polynya is open water within the ice.\n"
MARKDOWN = {"Content-Type": "text/markdown"}


async def send(
    client: httpx2.AsyncClient, content: bytes | str | AsyncIterator[bytes], path: str, **headers: str
) -> httpx2.Response:
    headers = headers or MARKDOWN
    return await client.post(PATH, content=content, params={"path": path}, headers=headers)


async def test_a_document_that_is_sent_is_found_by_the_subject(client: httpx2.AsyncClient):
    answer = await send(client, TEXT, "notes/polynyas.md")
    assert answer.status_code == 201, answer.text
    receipt = answer.json()
    assert (receipt["url"], receipt["title"]) == ("corpus://sea-ice/notes/polynyas.md", "Polynyas")
    assert (receipt["state"], receipt["passages"]) == ("new", 1)
    [listed] = (await client.get(answer.headers["Location"])).json()["items"]
    assert (listed["url"], listed["title"]) == (receipt["url"], receipt["title"])
    assert (await client.get("/v1/subjects/sea-ice")).json()["documents"] == 1


async def test_a_document_takes_the_place_of_one_of_its_path(client: httpx2.AsyncClient):
    await send(client, TEXT, "polynyas.md")
    same = await send(client, TEXT, "polynyas.md")
    assert (same.status_code, same.json()["state"]) == (200, "unchanged")
    changed = await send(client, TEXT + "\nIt freezes last.\n", "polynyas.md")
    assert (changed.status_code, changed.json()["state"]) == (200, "changed")
    assert len((await client.get(PATH)).json()["items"]) == 1


@pytest.mark.parametrize(
    ("path", "content", "kind", "status", "words"),
    [
        ("picture.png", b"\x89PNG", "application/octet-stream", 415, "must end with one of"),
        ("notes.md", TEXT.encode(), "application/x-www-form-urlencoded", 415, "Send the file itself"),
        ("paper.pdf", b"no pdf", "application/pdf", 422, "its content is of another kind"),
        ("empty.md", b"", "text/markdown", 422, "it holds no text"),
        ("../notes.md", TEXT.encode(), "text/markdown", 422, "begins with a dot"),
        ("/etc/notes.md", TEXT.encode(), "text/markdown", 422, "begins with a dot"),
        ("a//notes.md", TEXT.encode(), "text/markdown", 422, "begins with a dot"),
        (".notes.md", TEXT.encode(), "text/markdown", 422, "begins with a dot"),
    ],
)
async def test_what_cannot_be_a_document_is_refused_and_says_why(
    client: httpx2.AsyncClient, path: str, content: bytes, kind: str, status: int, words: str
):
    answer = await send(client, content, path, **{"Content-Type": kind})
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text
    assert (await client.get(PATH)).json()["items"] == []


async def test_a_document_may_have_a_long_name(client: httpx2.AsyncClient):
    answer = await send(client, TEXT, f"{'ж' * 290}.md")
    assert answer.status_code == 201, answer.text


async def test_a_document_without_a_path_is_refused_with_the_field(client: httpx2.AsyncClient):
    answer = await client.post(PATH, content=TEXT, headers=MARKDOWN)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "path")


async def test_a_document_beyond_the_setting_is_refused(serving: Serving, keyless: Settings):
    async with serving(keyless.model_copy(update={"upload_bytes_max": 1_000})) as client:
        assert (await send(client, "x" * 1_000, "long.txt")).status_code == 201
        answer = await send(client, "x" * 1_001, "longer.txt")
        assert (answer.status_code, "1,000 bytes" in answer.json()["detail"]) == (413, True)


async def test_a_document_that_does_not_go_on_is_given_up(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bodies, "BODY_TIMEOUT_S", 0.05)

    async def stalled() -> AsyncIterator[bytes]:
        yield b"The beginning"
        await asyncio.sleep(10 * bodies.BODY_TIMEOUT_S)

    answer = await send(client, stalled(), "slow.md")
    assert answer.status_code == 408


async def test_a_form_names_the_document_by_its_file(client: httpx2.AsyncClient):
    answer = await client.post(PATH, files={"file": ("polynyas.md", TEXT)})
    assert answer.status_code == 201, answer.text
    assert answer.json()["url"] == "corpus://sea-ice/polynyas.md"
    named = await client.post(PATH, files={"file": ("b.md", TEXT)}, data={"path": "notes/b.md"})
    assert named.json()["url"] == "corpus://sea-ice/notes/b.md"
    addressed = await client.post(PATH, files={"file": ("c.md", TEXT)}, params={"path": "notes/c.md"})
    assert addressed.json()["url"] == "corpus://sea-ice/notes/c.md"


@pytest.mark.parametrize(
    ("files", "fields", "status", "words"),
    [
        ({"paper": ("a.md", TEXT)}, {}, 422, "no 'paper'"),
        ({"file": ("a.md", TEXT)}, {"colour": "red"}, 422, "no 'colour'"),
        ({"file": (None, TEXT)}, {}, 422, "curl -F file=@ice.pdf"),
        ({"file": ("picture.png", b"\x89PNG")}, {}, 415, "must end with one of"),
        ({"file": ("paper.pdf", b"no pdf")}, {}, 422, "its content is of another kind"),
        ({"file": (".hidden.md", TEXT)}, {}, 422, "begins with a dot"),
        ({"file": ("a.md", TEXT)}, {"path": "../a.md"}, 422, "begins with a dot"),
        ({"file": ("a.md", TEXT)}, {"path": f"{'a' * 300}.md"}, 422, "at most 300 characters"),
    ],
)
async def test_a_form_that_holds_no_document_is_refused(
    client: httpx2.AsyncClient,
    files: dict[str, tuple[str | None, bytes | str]],
    fields: dict[str, str],
    status: int,
    words: str,
):
    answer = await client.post(PATH, files=files, data=fields)
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text
    assert (await client.get(PATH)).json()["items"] == []


async def test_a_form_that_cannot_be_read_is_said(client: httpx2.AsyncClient):
    headers = {"Content-Type": "multipart/form-data"}
    answer = await client.post(PATH, content=b"--X", headers=headers)
    assert (answer.status_code, "cannot be read" in answer.json()["detail"]) == (400, True)


async def test_a_file_of_a_form_is_bounded_as_a_body_is(serving: Serving, keyless: Settings):
    async with serving(keyless.model_copy(update={"upload_bytes_max": 1_000})) as client:
        fits = await client.post(PATH, files={"file": ("a.txt", "x" * 1_000)})
        assert fits.status_code == 201
        for size in (1_001, 1_000_000):
            answer = await client.post(PATH, files={"file": ("b.txt", "x" * size)})
            assert (answer.status_code, "A file may have 1,000 bytes" in answer.json()["detail"]) == (
                413,
                True,
            )
