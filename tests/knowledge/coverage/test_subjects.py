import asyncio
import sys

import pytest

from chiron_workers.db.connect import Pool
from chiron_workers.errors import ToolError, ToolValidationError
from chiron_workers.knowledge.coverage.subjects import Subjects, slug
from chiron_workers.runs.session import Caller, Session


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Python", "python"),
        ("Größe & Maß", "grosse-mass"),
        ("漢字 C++", "han-zi-c"),
        ("python-lists", "python-lists"),
        (" The  Sun_and/Moon ", "the-sun-and-moon"),
        ("a" * 300, "a" * 100),
        ("x" * 99 + " yz", "x" * 99),
    ],
)
def test_any_name_becomes_a_slug_that_stays_as_it_is(name: str, expected: str) -> None:
    assert slug(name) == expected
    assert slug(slug(name)) == expected


def test_a_long_name_is_not_kept() -> None:
    name = "a" * 100_000
    references = sys.getrefcount(name)
    slug(name)
    assert sys.getrefcount(name) == references


@pytest.mark.parametrize("name", ["", "  ", "!!!", "🜂"])
def test_a_name_without_letters_is_refused_by_the_name_of_its_field(name: str) -> None:
    with pytest.raises(ToolValidationError, match="subject_id: must be a name") as caught:
        slug(name)
    assert caught.value.field == "subject_id"


async def test_a_subject_is_made_once_and_keeps_its_first_title(pool: Pool) -> None:
    async def ensure(title: str) -> None:
        async with Session(pool) as session:
            await Subjects(session).ensure("Deep Sea", title)

    await asyncio.gather(ensure("Deep Sea"), ensure("Deep Sea"))
    await ensure("Something else")
    subjects = Subjects(Session(pool))
    assert [(found["subject_id"], found["title"]) for found in await subjects.all()] == [
        ("deep-sea", "Deep Sea")
    ]


async def test_a_goal_is_saved_over_an_earlier_one(pool: Pool) -> None:
    async with Session(pool) as session:
        await Subjects(session).save_goal("Deep Sea", purpose_statement="Know it.", target_depth="overview")
        saved = await Subjects(session).save_goal(
            "deep-sea", purpose_statement="  Dive there.  ", target_depth="expert"
        )
    assert saved == await Subjects(Session(pool)).get("Deep Sea")
    assert saved == {
        "subject_id": "deep-sea",
        "title": "Deep Sea",
        "purpose_statement": "Dive there.",
        "target_depth": "expert",
    }


async def test_an_unknown_subject_is_refused_with_the_names_of_those_there_are(pool: Pool) -> None:
    async with Session(pool) as session:
        await Subjects(session).ensure("Deep Sea", "Deep Sea")
    with pytest.raises(ToolValidationError, match=r"no subject is called 'moon'\. Known subjects: deep-sea"):
        await Subjects(Session(pool)).get("Moon")


async def test_the_active_subject_belongs_to_its_owner(pool: Pool) -> None:
    for owner, name in (("ada", "Moon"), ("bob", "Mars"), ("ada", "Venus")):
        async with Session(pool, Caller(owner=owner)) as session:
            await Subjects(session).ensure(name, name)
            await Subjects(session).activate(name)
    active = {
        owner: await Subjects(Session(pool, Caller(owner=owner))).active() for owner in ("ada", "bob", "eve")
    }
    assert {owner: found and found["subject_id"] for owner, found in active.items()} == {
        "ada": "venus",
        "bob": "mars",
        "eve": None,
    }


async def test_a_run_has_its_own_subject_and_cannot_leave_it(pool: Pool) -> None:
    async with Session(pool) as session:
        await Subjects(session).ensure("Moon", "Moon")
        await Subjects(session).ensure("Mars", "Mars")
    subjects = Subjects(Session(pool, Caller(subject_id="moon")))
    active = await subjects.active()
    assert active
    assert active["subject_id"] == "moon"
    assert (await subjects.activate("Moon"))["subject_id"] == "moon"
    with pytest.raises(ToolError, match="This run works on 'moon' until it ends"):
        await subjects.activate("mars")
    with pytest.raises(ToolValidationError, match="cannot write to 'mars'; pass 'moon'"):
        subjects.require_writable("Mars")
