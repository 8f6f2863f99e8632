from enum import StrEnum
from typing import Annotated, TypedDict

from pydantic import Field

from chiron_workers.errors import ToolError
from chiron_workers.knowledge.coverage.nodes import Child
from chiron_workers.knowledge.drafts.reading import SUMMARY, Sentence
from chiron_workers.knowledge.drafts.sections import SENTENCES_MAX
from chiron_workers.knowledge.drafts.sentence_rules import TITLE_CHARS_MAX
from chiron_workers.knowledge.lessons.lessons import EXAMPLE, EXPLANATIONS_MAX, Prerequisite
from chiron_workers.store import Store
from chiron_workers.toolkit import tool
from chiron_workers.tools.drafts import TIMEOUT_S, CitedSentence


class Part(StrEnum):
    """What a section of a lesson is for."""

    SUMMARY = "summary"
    EXPLANATION = "explanation"
    EXAMPLE = "example"


class LessonPlan(TypedDict):
    """What a lesson is to teach."""

    node_id: str
    title: str
    description: str
    is_goal_critical: bool
    subject: str
    goal: str | None
    depth: str
    sentences_max: int
    facts: int
    prerequisites: list[Prerequisite]
    parts: list[Child]


class WrittenPart(TypedDict):
    """What a lesson has now."""

    part: str
    place: int
    sentences: int
    sentences_in_all: int


class HandedInLesson(TypedDict):
    """What was handed in."""

    lesson_id: str
    sections: list[str]
    sentences: int
    not_known: list[str]


@tool(needs_run=True, roles=("lesson",))
async def lesson_plan(store: Store) -> LessonPlan:
    """Read what you teach: the node, the goal it is learnt for, and what the learner knows before it.

    Returns:
        node_id, title and description of the node (what somebody can say or do who knows it), is_goal_critical, the subject
        with goal and depth, sentences_max (of the whole lesson), facts (how many list_facts shows), prerequisites (nodes that
        the learner knows already: do not explain them again) and parts (the nodes below this one).
    """
    plan = await store.lessons.plan()
    return LessonPlan(
        node_id=plan.node["node_id"],
        title=plan.node["title"],
        description=plan.node["description"],
        is_goal_critical=plan.node["is_goal_critical"],
        subject=plan.subject["title"],
        goal=plan.subject["purpose_statement"],
        depth=plan.subject["target_depth"],
        sentences_max=plan.sentences_max,
        facts=plan.facts,
        prerequisites=plan.prerequisites,
        parts=plan.parts,
    )


@tool(needs_run=True, roles=("lesson",), timeout_s=TIMEOUT_S)
async def write_lesson(
    store: Store,
    *,
    part: Part,
    sentences: Annotated[list[CitedSentence], Field(max_length=SENTENCES_MAX)],
    place: Annotated[int, Field(ge=1, le=EXPLANATIONS_MAX)] = 1,
    title: Annotated[str, Field(max_length=TITLE_CHARS_MAX)] = "",
) -> WrittenPart:
    """Write a section of the lesson, sentence by sentence, each with the facts it rests on.

    Each sentence is held to its facts: what they do not bear out in full is refused with the reason, and so are facts that say
    nothing of their sentence and a title that claims something; then nothing of the section is kept. Write it again with that
    sentence in other words, with other facts, or without it. There are no sentences without facts: no welcome, no transition, no
    opinion, nothing that you know yourself.

    Args:
        part: summary (what the learner will know, comes first), explanation, or example (the worked example, comes last).
        sentences: Each with its text, one sentence long, and the ids of its facts. A fact that is contradicted by another is
            told together with it, in one sentence that names both and says that they contradict each other. Without
            sentences the section is removed.
        place: Which explanation it is: 1, 2, 3 ... in the order in which a learner needs them. The one that stands there is
            replaced.
        title: What the section is about, in a few words; the summary needs none.

    Returns:
        part, place, and how many sentences the section and the whole lesson have.
    """
    if part is not Part.SUMMARY and sentences and not title.strip():
        raise ToolError("title: is missing; say in a few words what the section is about.")
    section = {Part.SUMMARY: SUMMARY, Part.EXAMPLE: EXAMPLE}.get(part, place)
    cited_sentences = [Sentence(sentence.text, tuple(sentence.facts)) for sentence in sentences]
    total = await store.lessons.write(section, title, cited_sentences)
    return WrittenPart(part=part, place=section, sentences=len(sentences), sentences_in_all=total)


@tool(needs_run=True, roles=("lesson",))
async def hand_in_lesson(store: Store, *, has_example: bool = True) -> HandedInLesson:
    """Hand in the lesson as its sections stand. It needs a summary, an explanation and a worked example.

    What is not known is added to it by the program and is not yours to write.

    Args:
        has_example: Say false where no fact is an example, or can be worked through as one; the lesson says so then.

    Returns:
        lesson_id, the titles of its sections in their order, how many sentences it has, and what it says is not known.
    """
    lesson = await store.lessons.hand_in(has_example=has_example)
    return HandedInLesson(
        lesson_id=str(lesson.lesson_id),
        sections=[section.title for section in lesson.sections],
        sentences=sum(len(section.sentences) for section in lesson.sections),
        not_known=list(lesson.not_known),
    )
