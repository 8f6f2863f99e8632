import hashlib
import json
from pathlib import Path
from uuid import UUID

import pytest

from chiron_api.transfer.importing import import_file
from chiron_workers.errors import ChironError, UsageError
from chiron_workers.ids import new_id

AT = "2026-03-01T12:00:00+00:00"
HEAD = {"kind": "chiron.export", "version": 1, "exported_at": AT}
TEXT = "Wax melts. It is not effective against rust. Rust never sleeps at all."


def fact(content: str = "Rust sleeps.", url: str = "https://a.org/", /, **more) -> dict:
    found = str(more.pop("id", new_id()))
    own = {"id": found, "content": content, "source_url": url, "source_score": 0.9, "created_at": AT}
    record = {
        "kind": "fact", "id": found, "subject_id": "rust", "topic_path": "a/b", "status": "accepted", "confidence": 0.99,
        "validated_at": AT, "created_at": AT, "assertions": [own | more.pop("own", {})],
    }  # fmt: skip
    return record | more


def source(url: str, text: str = TEXT, **more) -> dict:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {"kind": "source", "url": url, "hash": digest, "fetched_at": AT, "text": text} | more


def claiming(quote: str, start: int = 0, end: int = 9, text: str = TEXT) -> dict:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {
        "quote": quote,
        "quote_state": "verified",
        "quote_start": start,
        "quote_end": end,
        "snapshot_hash": digest,
    }


@pytest.fixture
def importing(pool, embedder, tmp_path):
    """`await importing(record, ...)` imports a file of these lines; a line that is text stands as it is."""

    async def run(*lines: dict | str, head: dict | None = HEAD):
        file: Path = tmp_path / "file.jsonl"
        every = [*([head] if head else []), *lines]
        file.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in every))
        return await import_file(pool, embedder, file)

    return run


@pytest.fixture
async def stored(pool):
    async def read(query: str) -> list[dict]:
        async with pool.connection() as connection:
            return await (await connection.execute(query)).fetchall()

    return read


WRONG = [
    (["{"], "Line 3: Invalid JSON"),
    (['{"kind": "poem"}'], "Line 3: Input tag 'poem'"),
    ([fact(), fact(confidence=2)], "Line 4: confidence: Input should be less than or equal to 1."),
    ([fact(surprise=1)], "Line 3: surprise: Extra inputs are not permitted."),
    ([fact(subject_id="Not a slug")], "Line 3: subject_id:"),
    ([fact("x\0y")], "Line 3: assertions.0.content: holds a NUL character"),
    ([fact('x"'.replace('"', "\ud800"))], "Line 3:"),
    ([fact("x" * 4_001)], "Line 3: assertions.0.content: String should have at most 4000"),
    ([fact(assertions=[])], "Line 3: assertions: List should have at least 1"),
    ([fact(own={"id": str(new_id())})], "Line 3: the first assertion must have the id of the fact."),
    (
        [source("https://a.org/", hash="0" * 64)],
        "Line 3: the text is not the one that the hash was made of.",
    ),
    ([source("https://a.org/", fetched_at="2999-01-01T00:00:00Z")], "Line 3: fetched_at lies in the future."),
    ([HEAD], "Line 3: a file begins with a line of kind chiron.export"),
    (
        [fact(id=UUID(int=7)), fact("y", id=UUID(int=7))],
        "Line 4: fact 00000000-0000-0000-0000-000000000007 is in the file",
    ),
    (
        [
            fact(
                links=[
                    {
                        "other_id": str(new_id()),
                        "relation": "supports",
                        "decided_by": "rules",
                        "created_at": AT,
                    }
                ]
            )
        ],
        "Line 3: a link names a fact that is not in the file.",
    ),
]


async def test_a_wrong_line_is_named_and_nothing_is_imported(importing, stored):
    for lines, said in WRONG:
        with pytest.raises(UsageError) as error:
            await importing(fact("A good one.", "https://good.org/"), *lines)
        assert str(error.value).startswith(said)
    assert await stored("select 1 from facts union all select 1 from snapshots") == []


async def test_a_file_without_its_first_line_is_refused(importing):
    with pytest.raises(UsageError, match="Line 1: a file begins with a line of kind"):
        await importing(fact(), head=None)


async def test_no_file_can_say_that_a_quote_is_verified(importing, stored):
    address = "https://a.org/"
    lies = [
        fact("No text of it is here.", address, own=claiming("Wax melts.", text="Another text.")),
        fact("It does not stand there.", address, own=claiming("Rust always sleeps in the rain.")),
        fact("It is a part of a sentence.", address, own=claiming("effective against rust", 21, 43)),
        fact("It stands in the text of another address.", "https://nature.com/", own=claiming("Rust never sleeps at all.")),
    ]  # fmt: skip
    done = await importing(source(address), *lies)
    found = {
        row["content"]: row
        for row in await stored("select content, quote, quote_state, confidence, status from facts")
    }
    assert found["No text of it is here."]["quote_state"] == "unverified"
    assert found["It does not stand there."]["quote_state"] == "unverified"
    assert found["It stands in the text of another address."]["quote_state"] == "unverified"
    # What stands there is taken as what it is: the whole sentence.
    assert found["It is a part of a sentence."]["quote"] == "It is not effective against rust."
    assert done.unproven == 3
    unverified = [row for row in found.values() if row["quote_state"] == "unverified"]
    assert {(row["confidence"], row["status"]) for row in unverified} == {(0.5, "candidate")}


async def test_confidence_is_computed_here_whatever_the_file_says(importing, stored):
    quote = "Rust never sleeps at all."
    start = TEXT.index(quote)
    true = fact(
        "Rust never sleeps.",
        own=claiming(quote, start, start + len(quote)),
        confidence=0.01,
        status="candidate",
    )
    await importing(source("https://a.org/"), true)
    assert await stored("select round(confidence::numeric, 2)::text as sure, status from facts") == [
        {"sure": "0.90", "status": "accepted"}
    ]
    [change] = await stored("select status, reason from fact_changes")
    assert change == {"status": "candidate", "reason": "imported"}


async def test_links_count_for_the_facts_that_were_there_before(importing, stored, pool, embedder):
    quote = "Rust never sleeps at all."
    start = TEXT.index(quote)
    proof = claiming(quote, start, start + len(quote))
    known = fact("Rust never sleeps.", own=proof)
    await importing(source("https://a.org/"), known)
    link = {"other_id": known["id"], "relation": "contradicts", "decided_by": "agent", "created_at": AT}
    against = fact("Rust rests at night.", "https://b.org/", own=proof, links=[link])
    done = await importing(source("https://a.org/"), source("https://b.org/"), known, against)
    assert (done.facts, done.links) == (1, 1)
    assert {row["status"] for row in await stored("select status from facts")} == {"disputed"}


async def test_a_withdrawn_fact_stays_withdrawn_on_either_side(importing, stored):
    gone = fact("Out of here.")
    await importing(gone | {"status": "withdrawn"})
    await importing(gone)
    assert await stored("select status from facts") == [{"status": "withdrawn"}]


async def test_an_id_that_is_taken_by_something_else_is_changed(importing, stored):
    taken = new_id()
    await importing(fact("First.", id=taken))
    for _ in range(2):
        await importing(fact("Second.", id=taken))
    found = await stored("select id, content from facts order by content")
    assert [row["content"] for row in found] == ["First.", "Second."]
    assert found[0]["id"] == taken != found[1]["id"]


async def test_an_import_that_is_cut_says_what_it_wrote_and_goes_on_later(importing, stored, pool):
    async with pool.connection() as connection:
        await connection.execute("alter table facts add constraint no_poison check (content <> 'poison')")
    lines = [fact(f"Fact {n}.", f"https://a.org/{n}") for n in range(250)]
    poisoned = [*lines[:230], fact("poison"), *lines[230:]]
    with pytest.raises(
        ChironError, match=r"Written so far: 200 new facts.*Import the same file again"
    ) as error:
        await importing(*poisoned)
    assert not isinstance(error.value, UsageError)
    shown = await stored("select status, confidence from facts")
    assert len(shown) == 200
    assert {row["status"] for row in shown} == {"candidate"}  # without a quote, whatever the file says
    assert max(row["confidence"] for row in shown) <= 0.5
    done = await importing(*lines)
    assert (done.facts, done.known) == (50, 200)
