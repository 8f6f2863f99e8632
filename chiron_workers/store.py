from typing import Self

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


class Store:
    """What every tool is handed first: the knowledge, one attribute for each noun.

    `async with Store(Session(pool, caller), embedder) as store:` commits at the end, or rolls back on an error.
    """

    def __init__(
        self,
        session: Session,
        embedder: Embedder,
        side_model: SideModel | None = None,
        turn: Turn | None = None,
    ) -> None:
        self.session = session
        self.embedder = embedder
        self.side_model = side_model
        self.subjects = Subjects(session)
        self.facts = Facts(session, embedder, side_model)
        self.verdicts = Verdicts(session, side_model, turn)
        self.checks = Checks(session, self.facts, self.verdicts)
        self.drafts = Drafts(session, self.verdicts)
        self.rows = Rows(session, self.verdicts)
        self.search = Search(session, embedder)
        self.nodes = Nodes(session)
        self.curricula = Curricula(session)
        self.proposals = Proposals(session)
        self.lessons = Lessons(session, self.verdicts, self.nodes)
        self.assessments = Assessments(session)
        self.reviews = Reviews(session)
        self.questions = Questions(session, self.verdicts)
        self.quizzes = Quizzes(session, self.questions, self.reviews)
        self.judging = Judging(session, side_model, self.reviews)
        self.sources = Sources(session)
        self.source_changes = SourceChanges(session)
        self.notes = Notes(session)
        self.results = ToolResults(session)
        self.egress = EgressPolicy(session)
        self.reach = self.egress  # the name that tools written for 0.1 use
        self.subscriptions = Subscriptions(session)
        self.evaluations = Evaluations(session)
        self.skills = LoadedSkills(session)

    @property
    def caller(self) -> Caller:
        """On whose behalf this store is used."""
        return self.session.caller

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self.session.__aexit__(kind, error, trace)
