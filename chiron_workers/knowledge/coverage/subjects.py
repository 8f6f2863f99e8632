import asyncio
from typing import TypedDict, cast

from chiron_workers.db.pipelines import Statement
from chiron_workers.db.queries import load
from chiron_workers.db.validation import clean_text
from chiron_workers.errors import NotFound, ToolError, ToolValidationError
from chiron_workers.evidence.text_cache import cache_short_texts
from chiron_workers.nearest import nearest
from chiron_workers.problems import SUBMIT_TOPICS
from chiron_workers.runs.session import Session

SQL = load(__file__)

SLUG_CHARS_MAX = 100
TITLE_CHARS_MAX = 300
PURPOSE_CHARS_MAX = 4_000
DEPTH_CHARS_MAX = 100
SUBJECTS_MAX = 10_000
NEAREST_SHOWN = 3


class Subject(TypedDict):
    """A subject with its learning goal; `purpose_statement` is None until a goal is saved."""

    subject_id: str
    title: str
    purpose_statement: str | None
    target_depth: str


@cache_short_texts(texts_max=1_024, chars_max=SLUG_CHARS_MAX)
def slug(name: str) -> str:
    """The id of a subject, from any name: "Größe & Maß" becomes "grosse-mass".

    Raises:
        ToolValidationError: The name holds no letter and no digit.
    """
    from slugify import slugify  # with its tables of letters: commands that show a batch do without

    subject_id = str(slugify(name, max_length=SLUG_CHARS_MAX))
    if not subject_id:
        raise ToolValidationError(
            f"subject_id: must be a name with letters or digits (got {name[:60]!r}).", field="subject_id"
        )
    return subject_id


def ensure_statement(subject_slug: str, title: str) -> Statement:
    """What creates a subject where there is none yet."""
    title = clean_text(title, field="title", chars_max=TITLE_CHARS_MAX)
    return Statement(SQL["ensure"], {"subject_id": subject_slug, "title": title})


class Subjects:
    """Subjects with their learning goals, and the active subject of each owner."""

    def __init__(self, session: Session) -> None:
        self.session = session

    async def ensure(self, subject_id: str, title: str) -> str:
        """Create a subject where there is none yet; its slug. A subject that exists keeps its title."""
        subject_slug = slug(subject_id)
        statement = ensure_statement(subject_slug, title)
        await self.session.write(statement.query, statement.args)
        return subject_slug

    async def find(self, subject_id: str) -> Subject | None:
        """The subject of a name or slug, or None."""
        row = await self.session.row(SQL["get"], {"subject_id": slug(subject_id)})
        return cast("Subject | None", row)

    async def get(self, subject_id: str) -> Subject:
        """The subject of a name or slug. Raises ToolValidationError, naming those there are."""
        if subject := await self.find(subject_id):
            return subject
        names = ", ".join(subject["subject_id"] for subject in await self.all(limit=20)) or "none yet"
        raise ToolValidationError(
            f"subject_id: no subject is called {slug(subject_id)!r}. Known subjects: {names}.",
            field="subject_id",
        )

    async def require(self, subject_id: str) -> Subject:
        """The subject that a person names. Raises NotFound, saying which are nearest."""
        if subject := await self.find(subject_id):
            return subject
        raise await self.unknown(subject_id)

    async def unknown(self, subject_id: str) -> NotFound:
        """That there is no such subject, and which are nearest in their letters."""
        name = slug(subject_id)
        names = [subject["subject_id"] for subject in await self.all()]
        if not names:
            return NotFound(f"There is no subject {name!r}, and no other yet.", remedies=(SUBMIT_TOPICS,))
        # In a thread: ten thousand names take half a second, for which no other request waits.
        matches = await asyncio.to_thread(nearest, name, names, limit=NEAREST_SHOWN, nearness_min=0.4)
        introduction = "The nearest: " if matches else "There are: "
        shown = matches or names[:NEAREST_SHOWN]
        more = "" if matches or len(names) == len(shown) else f" and {len(names) - len(shown):,} more"
        return NotFound(f"There is no subject {name!r}. {introduction}{', '.join(shown)}{more}.")

    async def all(self, *, limit: int = SUBJECTS_MAX) -> list[Subject]:
        """All subjects by name, with their goals; `limit` at most."""
        return cast("list[Subject]", await self.session.rows(SQL["list"], {"limit": limit}))

    async def save_goal(self, subject_id: str, *, purpose_statement: str, target_depth: str) -> Subject:
        """Store why a subject is learnt and how deeply, over an earlier goal; creates a new subject."""
        rows = await self.session.write(
            SQL["save_goal"],
            {
                "subject_id": self.require_writable(subject_id),
                "title": clean_text(subject_id, field="subject_id", chars_max=TITLE_CHARS_MAX),
                "purpose_statement": clean_text(
                    purpose_statement, field="purpose_statement", chars_max=PURPOSE_CHARS_MAX
                ),
                "target_depth": clean_text(target_depth, field="target_depth", chars_max=DEPTH_CHARS_MAX),
            },
        )
        return cast("Subject", rows[0])

    def require_writable(self, subject_id: str, *, field: str = "subject_id") -> str:
        """The slug of a subject that the caller may change.

        In a run only its own, so that no page can talk a run into filling other people's subjects.

        Args:
            field: The argument that named it, or something of it.

        Raises:
            ToolValidationError: It is not the run's subject.
        """
        subject_slug, run_subject = slug(subject_id), self.session.caller.subject_id
        if run_subject is not None and subject_slug != run_subject:
            advice = f"pass {run_subject!r}" if field == "subject_id" else f"name one of {run_subject!r}"
            raise ToolValidationError(
                f"{field}: this run works on {run_subject!r} and cannot write to {subject_slug!r}; {advice}.",
                field=field,
            )
        return subject_slug

    async def ensure_writable(self, subject_id: str) -> str:
        """The slug of a subject that the caller may change, created if there is none: a write.

        Raises:
            ToolValidationError: It is not the run's subject.
        """
        subject_slug = self.require_writable(subject_id)
        if self.session.caller.subject_id is None:
            await self.ensure(subject_slug, subject_slug)
        return subject_slug

    async def active(self) -> Subject | None:
        """The active subject: the run's own, or the one its owner activated last; None before that."""
        if run_subject := self.session.caller.subject_id:
            return await self.find(run_subject)
        row = await self.session.row(SQL["active"], {"owner": self.session.caller.owner})
        return await self.find(row["subject_id"]) if row else None

    async def activate(self, subject_id: str) -> Subject:
        """Choose the subject to work on.

        Raises:
            ToolError: A run was asked to leave its subject.
            ToolValidationError: There is no such subject.
        """
        run_subject = self.session.caller.subject_id
        if run_subject is not None and run_subject != slug(subject_id):
            raise ToolError(
                f"This run works on {run_subject!r} until it ends; another subject needs a run of its own."
            )
        subject = await self.get(subject_id)
        if run_subject is None:
            args = {"owner": self.session.caller.owner, "subject_id": subject["subject_id"]}
            await self.session.write(SQL["activate"], args)
        return subject
