"""Decoding a form without files: as Starlette does it, in pieces and beside the event loop."""

from random import Random
from urllib.parse import parse_qsl, quote_plus

import httpx2
import pytest

from chiron_api.http import form_bodies
from chiron_api.http.form_bodies import FIELDS_MAX
from chiron_api.http.page.submit import draft
from chiron_workers.batches import topics

TEXTS = ("a", "ü", "%", "+", "&", "=", " ", "😀", "\n", "\r\n", "%4", "\0", "x" * 50)


@pytest.mark.parametrize("piece_bytes", [3, 4, 7, 65_536])
def test_form_fields_are_the_same_wherever_a_piece_ends(
    piece_bytes: int, chance: Random, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(form_bodies, "PIECE_BYTES", piece_bytes)
    for _ in range(100):
        fields = [
            (f"f{n}", "".join(chance.choices(TEXTS, k=chance.randrange(12))))
            for n in range(chance.randrange(5))
        ]
        payload = "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in fields).encode()
        assert form_bodies._fields(payload).multi_items() == fields


@pytest.mark.parametrize(
    "payload", [b"a=%", b"a=%4", b"a=%zz%C3", b"a=b=c&d&=e", b"&&a=1&", b"a=1&a=2", b"%61=%2B"]
)
def test_form_fields_of_other_programs_are_read_as_python_reads_them(
    payload: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(form_bodies, "PIECE_BYTES", 3)
    fields = form_bodies._fields(payload).multi_items()
    assert fields == parse_qsl(payload.decode(), keep_blank_values=True)


async def test_forms_of_many_fields_are_refused_before_they_are_decoded(client: httpx2.AsyncClient):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for separators, status in ((FIELDS_MAX - 1, 422), (FIELDS_MAX, 400), (1_000_000, 400)):
        answer = await client.post("/submit", content=b"&" * separators, headers=form)
        assert answer.status_code == status


@pytest.mark.parametrize("piece_chars", [1, 2, 5, 65_536])
def test_draft_topics_are_the_lines_of_a_text_wherever_a_piece_ends(
    piece_chars: int, chance: Random, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(topics, "PIECE_CHARS", piece_chars)
    for _ in range(200):
        text = "".join(
            chance.choices(("a", "b c", " ", "\n", "\r\n", "\r", "\x0b", "\x1c", "\u2028", "\x85"), k=20)
        )
        lines = tuple(line.strip() for line in text.split("\n") if line.strip())
        assert draft.draft_of({"topics": text}).topics == lines


def test_draft_holds_one_topic_more_than_a_form_takes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(draft, "TOPICS_MAX", 3)
    text = "a\nb\nc\nd\ne"
    many = draft.draft_of({"topics": text, "file": "f"})
    assert (many.topics, many.text) == (("a", "b", "c", "d"), f"{text}\nf")
