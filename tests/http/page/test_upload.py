"""Documents that a form of the page adds to a subject."""

import re

import httpx2
import pytest

TEXT = "# Polynyas\n\nA polynya is open water within the ice.\n"
PATH = "/subjects/sea-ice/documents"
FORM = {"token": ""}


@pytest.fixture
async def subject(client: httpx2.AsyncClient) -> httpx2.AsyncClient:
    """A client of a server that has a subject."""
    answer = await client.post("/subjects", data={"title": "Sea ice"})
    assert answer.headers["location"] == "/subjects/sea-ice"
    return client


async def test_a_document_is_added_with_the_form_and_listed(subject: httpx2.AsyncClient):
    for address in ("/subjects/sea-ice", "/subjects/sea-ice/sources"):
        page = (await subject.get(address)).text
        assert f'action="{PATH}" enctype="multipart/form-data"' in page
        assert ".pdf" in page
    answer = await subject.post(PATH, data=FORM | {"path": ""}, files={"file": ("polynyas.md", TEXT)})
    assert (answer.status_code, answer.headers["location"]) == (303, "/subjects/sea-ice/sources#documents")
    page = (await subject.get("/subjects/sea-ice/sources")).text
    assert "corpus://sea-ice/polynyas.md" in page
    await subject.post(PATH, data=FORM | {"path": "notes/b.md"}, files={"file": ("polynyas.md", TEXT)})
    assert "corpus://sea-ice/notes/b.md" in (await subject.get("/subjects/sea-ice/sources")).text


@pytest.mark.parametrize(
    ("name", "content", "status", "words"),
    [
        ("picture.png", b"\x89PNG", 415, "must end with one of .md"),
        ("paper.pdf", b"no pdf", 422, "its content is of another kind"),
        ("empty.md", b"", 422, "it holds no text"),
        ("", b"", 422, "Choose one file"),
        ("long.txt", b"x" * 10_000_001, 413, "A file may have 10,000,000 bytes"),
    ],
)
async def test_what_cannot_be_a_document_is_said_above_the_form(
    subject: httpx2.AsyncClient, name: str, content: bytes, status: int, words: str
):
    answer = await subject.post(PATH, data=FORM, files={"file": (name, content)})
    assert answer.status_code == status
    notices = re.findall(r'role="alert">([^<]*)<', answer.text)
    assert len([notice for notice in notices if words in notice]) == 1
    assert f'action="{PATH}"' in answer.text
    assert (await subject.get("/v1/subjects/sea-ice/documents")).json()["items"] == []


async def test_a_subject_that_is_not_there_gets_no_documents(client: httpx2.AsyncClient):
    answer = await client.post(PATH, data=FORM, files={"file": ("polynyas.md", TEXT)})
    assert answer.status_code == 404


async def test_a_browser_needs_the_token_of_its_session(
    subject: httpx2.AsyncClient, browser: httpx2.AsyncClient
):
    files = {"file": ("polynyas.md", TEXT)}
    assert (await browser.post(PATH, data=FORM, files=files)).status_code == 403
    assert (await subject.get("/v1/subjects/sea-ice/documents")).json()["items"] == []
    token = re.search(r'name="token" value="([0-9a-f]{64})"', (await browser.get("/subjects/sea-ice")).text)
    assert token
    assert (await browser.post(PATH, data={"token": token[1]}, files=files)).status_code == 303


@pytest.mark.parametrize("kind", ["multipart/form-data", "application/x-www-form-urlencoded"])
@pytest.mark.parametrize("address", [PATH, "/v1" + PATH])
async def test_only_the_file_of_a_form_may_be_large(subject: httpx2.AsyncClient, address: str, kind: str):
    fields = FORM | {"path": "x" * 70_000}
    files = {"file": ("a.md", TEXT)} if kind.startswith("multipart") else None
    answer = await subject.post(
        address, data=fields, files=files, headers={"Origin": str(subject.base_url).rstrip("/")}
    )
    is_refused = answer.status_code in ((413,) if files or "v1" not in address else (413, 415))
    assert is_refused, answer.text
    if answer.status_code == 413:
        assert "A field that is no file may have 65,536 bytes" in answer.text
