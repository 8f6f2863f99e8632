"""Subjects: list them, show what is known of each and how that changes, make them, and say what they are for."""

from http import HTTPStatus
from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from chiron_api.acts.act import Created, Noun, Target
from chiron_api.acts.inputs import Input, Page, Time
from chiron_api.answers.differences import Difference
from chiron_api.answers.facts import FactList
from chiron_api.answers.subjects import Subject, SubjectDetails, SubjectList
from chiron_api.reports.gathering import subject_part
from chiron_api.services import Services
from chiron_workers.knowledge.corpus import Corpus
from chiron_workers.knowledge.coverage.subjects import (
    DEPTH_CHARS_MAX,
    PURPOSE_CHARS_MAX,
    TITLE_CHARS_MAX,
    slug,
)
from chiron_workers.knowledge.facts.fact_pages import newest_facts
from chiron_workers.knowledge.report_rows import counts as counts_of
from chiron_workers.knowledge.report_rows import find_target, subject_rows
from chiron_workers.knowledge.subject_diff import between
from chiron_workers.learning.curriculum_orders import DEPTH
from chiron_workers.runs.session import Session
from chiron_workers.states import SHOWN_STATUSES, FactStatus

SUBJECTS = Noun("Subjects", Target("subject"))
PROBLEMS = (HTTPStatus.NOT_FOUND,)

Purpose = Annotated[str, Field(min_length=1, max_length=PURPOSE_CHARS_MAX)]
Depth = Annotated[str, Field(min_length=1, max_length=DEPTH_CHARS_MAX)]


class FactPage(Page):
    """A page of the facts of a subject, in one status if it is named."""

    status: FactStatus | None = None


class Period(Input):
    """A period, its times with their zones; it ends now unless `until` is given."""

    since: Time = Field(
        description="From when, with its zone, such as 2026-10-01T00:00:00Z; a + is written %2B in an address."
    )
    until: Time | None = Field(None, description="Up to when. Default: now.")
    limit: Annotated[int, Field(ge=1, le=1_000)] = Field(100, description="Entries of each kind at most.")


class NewSubject(Input):
    """A subject by its name, from which its id follows, and its learning goal if it has one."""

    title: Annotated[str, Field(min_length=1, max_length=TITLE_CHARS_MAX)] = Field(
        description="Its name; its id follows from it."
    )
    purpose_statement: Annotated[str, Field(max_length=PURPOSE_CHARS_MAX)] = Field(
        "", description="What you want to know it for. Agents take it as the measure of what matters."
    )
    target_depth: Depth | None = Field(None, description=f"How deep the goal goes. Default: {DEPTH}.")

    @field_validator("target_depth")
    @classmethod
    def _require_goal(cls, depth: str | None, info: ValidationInfo) -> str | None:
        if depth is not None and not info.data.get("purpose_statement", True):
            raise PydanticCustomError("goal", "goes with a purpose_statement")
        return depth


class LearningGoal(Input):
    """What a subject is for, and how deep it goes; without `target_depth` as deep as before."""

    purpose_statement: Purpose
    target_depth: Depth | None = Field(None, description="How deeply it is learnt. Default: as before.")


@SUBJECTS.act(
    "subjects.list",
    "GET /v1/subjects",
    "List the subjects",
    client="subjects",
    faces=("GET /subjects", "tool list_subjects"),
)
async def list_subjects(services: Services) -> SubjectList:
    """Every subject with its learning goal, by name."""
    async with services.store() as store:
        return SubjectList.model_validate({"items": await store.subjects.all()})


@SUBJECTS.act(
    "subjects.create",
    "POST /v1/subjects",
    "Make a subject",
    client="create_subject",
    faces=("POST /subjects",),
    status=HTTPStatus.CREATED,
    location="/v1/subjects/{subject_id}",
    repeatable=True,
)
async def create_subject(services: Services, body: NewSubject) -> Created[Subject]:
    """Make a subject, or give the one of that name another goal. One that is there keeps its title."""
    async with services.store() as store:
        is_new = await store.subjects.find(body.title) is None
        subject_id = await store.subjects.ensure(body.title, body.title)
        if body.purpose_statement:
            await store.subjects.save_goal(
                subject_id, purpose_statement=body.purpose_statement, target_depth=body.target_depth or DEPTH
            )
        return Created(Subject.model_validate(await store.subjects.get(subject_id)), is_new)


@SUBJECTS.act(
    "subjects.read",
    "GET /v1/subjects/{id}",
    "Show a subject",
    client="subject",
    faces=("GET /subjects/{id}", "tool get_learning_goal"),
    problems=PROBLEMS,
)
async def show_subject(services: Services, id: str) -> SubjectDetails:
    """A subject with its learning goal, how many facts it has, and its coverage map."""
    target = await find_target(services.pool, id)
    [row] = await subject_rows(services.pool, [str(target.id)])
    part = await subject_part(services.pool, row)
    coverage = {
        "nodes": part.nodes,
        "missing": [node.node_id for node in part.missing],
        "unmapped_facts": part.unmapped_facts,
        "is_cut": part.is_cut,
    }
    documents = await Corpus(Session(services.pool)).documents(str(target.id))
    counts = {"facts": await counts_of(services.pool, target), "documents": len(documents)}
    return SubjectDetails.model_validate({**row, **counts, "coverage": coverage})


@SUBJECTS.act(
    "subjects.goal",
    "POST /v1/subjects/{id}/goal",
    "Say what a subject is for",
    client="save_goal",
    faces=("POST /subjects/{id}/goal",),
    problems=PROBLEMS,
    repeatable=True,
)
async def save_goal(services: Services, id: str, goal: LearningGoal) -> Subject:
    """Save the learning goal of a subject; it replaces an earlier one."""
    async with services.store() as store:
        subject = await store.subjects.require(id)
        saved_subject = await store.subjects.save_goal(
            subject["subject_id"],
            purpose_statement=goal.purpose_statement,
            target_depth=goal.target_depth or subject["target_depth"],
        )
        return Subject.model_validate(saved_subject)


@SUBJECTS.act(
    "subjects.facts",
    "GET /v1/subjects/{id}/facts",
    "List the facts of a subject",
    client="subject_facts",
    problems=PROBLEMS,
)
async def list_subject_facts(services: Services, id: str, page: FactPage) -> FactList:
    """Facts, newest first, in pages; those that are accepted or disputed unless a status is named."""
    target = await find_target(services.pool, id)
    facts = await newest_facts(
        Session(services.pool),
        str(target.id),
        [page.status] if page.status else SHOWN_STATUSES,
        limit=page.limit + 1,
        before=page.after,
    )
    return FactList.model_validate(page.of(facts))


@SUBJECTS.act(
    "subjects.changes",
    "GET /v1/subjects/{id}/diff",
    "Compare two times of a subject",
    client="difference",
    faces=("GET /subjects/{id}/changes",),
    problems=PROBLEMS,
)
async def show_difference(services: Services, id: str, period: Period) -> Difference:
    """What changed in a subject in a period."""
    subject_id = slug(id)
    async with services.store() as store:
        difference = await between(store.session, subject_id, period.since, period.until, limit=period.limit)
    return Difference.model_validate(difference)
