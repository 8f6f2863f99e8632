from collections.abc import Callable
from typing import Generic, Self, TypeVar, overload

from chiron_workers.billing.services import Meter
from chiron_workers.embeddings import Embedder
from chiron_workers.knowledge.assessment.marking import Judging
from chiron_workers.knowledge.assessment.questions import Questions
from chiron_workers.knowledge.assessment.quizzes import Quizzes
from chiron_workers.knowledge.assessment.reviews import Reviews
from chiron_workers.knowledge.coverage.assessments import Assessments
from chiron_workers.knowledge.coverage.curricula import Curricula
from chiron_workers.knowledge.coverage.evaluations import Evaluations
from chiron_workers.knowledge.coverage.nodes import Nodes
from chiron_workers.knowledge.coverage.proposals import Proposals
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.drafts.drafts import Drafts
from chiron_workers.knowledge.facts.checks import Checks
from chiron_workers.knowledge.facts.facts import Facts
from chiron_workers.knowledge.facts.verdicts import Verdicts
from chiron_workers.knowledge.lessons.lessons import Lessons
from chiron_workers.knowledge.rows.rows import Rows
from chiron_workers.knowledge.search.search import Search
from chiron_workers.runs.loaded_skills import LoadedSkills
from chiron_workers.runs.notes import Notes
from chiron_workers.runs.session import Caller, Session, SideModel
from chiron_workers.runs.tool_results import ToolResults
from chiron_workers.runs.turns import Turn
from chiron_workers.sources.changes import SourceChanges
from chiron_workers.sources.egress import EgressPolicy
from chiron_workers.sources.sources import Sources
from chiron_workers.subscriptions.subscriptions import Subscriptions

Noun = TypeVar("Noun")


class Part(Generic[Noun]):
    """An attribute of a store that is made when it is first used: a tool uses two or three of them."""

    def __init__(self, make: "Callable[[Store], Noun]") -> None:
        self._make = make

    def __set_name__(self, owner: "type[Store]", name: str) -> None:
        self._name = name

    @overload
    def __get__(self, store: None, owner: "type[Store]") -> Self: ...

    @overload
    def __get__(self, store: "Store", owner: "type[Store]") -> Noun: ...

    def __get__(self, store: "Store | None", owner: "type[Store]") -> Self | Noun:
        if store is None:
            return self
        # From now on the instance's own attribute hides this one.
        noun = store.__dict__[self._name] = self._make(store)
        return noun


class Store:
    """What every tool is handed first: the knowledge, one attribute for each noun.

    `async with Store(Session(pool, caller), embedder) as store:` commits at the end, or rolls back on an error.
    """

    session: Session
    embedder: Embedder
    side_model: SideModel | None
    turn: Turn | None
    meter: Meter | None  # has somebody pay for hosted services; None: the user of this machine does

    subjects = Part(lambda store: Subjects(store.session))
    facts = Part(lambda store: Facts(store.session, store.embedder, store.side_model))
    verdicts = Part(lambda store: Verdicts(store.session, store.side_model, store.turn))
    checks = Part(lambda store: Checks(store.session, store.facts, store.verdicts))
    drafts = Part(lambda store: Drafts(store.session, store.verdicts))
    rows = Part(lambda store: Rows(store.session, store.verdicts))
    search = Part(lambda store: Search(store.session, store.embedder))
    nodes = Part(lambda store: Nodes(store.session))
    curricula = Part(lambda store: Curricula(store.session))
    proposals = Part(lambda store: Proposals(store.session))
    lessons = Part(lambda store: Lessons(store.session, store.verdicts, store.nodes))
    assessments = Part(lambda store: Assessments(store.session))
    reviews = Part(lambda store: Reviews(store.session))
    questions = Part(lambda store: Questions(store.session, store.verdicts))
    quizzes = Part(lambda store: Quizzes(store.session, store.questions, store.reviews))
    judging = Part(lambda store: Judging(store.session, store.side_model, store.reviews))
    sources = Part(lambda store: Sources(store.session))
    source_changes = Part(lambda store: SourceChanges(store.session))
    notes = Part(lambda store: Notes(store.session))
    results = Part(lambda store: ToolResults(store.session))
    egress = Part(lambda store: EgressPolicy(store.session))
    reach = Part(lambda store: store.egress)  # the name that tools written for 0.1 use
    subscriptions = Part(lambda store: Subscriptions(store.session))
    evaluations = Part(lambda store: Evaluations(store.session))
    skills = Part(lambda store: LoadedSkills(store.session))

    def __init__(
        self,
        session: Session,
        embedder: Embedder,
        side_model: SideModel | None = None,
        turn: Turn | None = None,
        meter: Meter | None = None,
    ) -> None:
        self.session = session
        self.embedder = embedder
        self.side_model = side_model
        self.turn = turn
        self.meter = meter

    @property
    def caller(self) -> Caller:
        """On whose behalf this store is used."""
        return self.session.caller

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self.session.__aexit__(kind, error, trace)
