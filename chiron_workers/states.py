"""The words a run, a batch and an event can be in. A test holds them equal to the CHECKs in the schema."""

from enum import StrEnum


class RunState(StrEnum):
    """What a run is doing."""

    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Whether nothing more happens unless somebody asks for it."""
        return self in FINAL_STATES


FINAL_STATES = frozenset({RunState.COMPLETED, RunState.FAILED, RunState.CANCELLED})


class BatchKind(StrEnum):
    """The purpose of a batch. Batches of a subscription also have its id."""

    RESEARCH = "research"  # topics that somebody submitted
    REPORT = "report"
    CHECK = "check"
    LEARNING = "learning"


class StopRequest(StrEnum):
    """What somebody asks of a run that a worker executes; whoever releases the run does it."""

    PAUSE = "pause"
    CANCEL = "cancel"


class ThinkingMode(StrEnum):
    """How a run's model thinks. `auto` leaves it to what the model can; the others are values of the Messages API."""

    AUTO = "auto"
    ADAPTIVE = "adaptive"
    BETWEEN_TOOLS = "between_tools"
    ENABLED = "enabled"
    DISABLED = "disabled"


class Effort(StrEnum):
    """How much a model puts into a reply, as the Messages API has it."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class EventKind(StrEnum):
    """What can happen to a run. `text.delta` and `snapshot`, with which a stream begins, are never stored."""

    RUN_QUEUED = "run.queued"
    RUN_STARTED = "run.started"
    RUN_RESUMED = "run.resumed"
    MODEL_THOUGHT = "model.thought"
    MODEL_REPLIED = "model.replied"
    TOOL_CALLED = "tool.called"
    TOOL_RETURNED = "tool.returned"
    FACT_STORED = "fact.stored"
    NODE_SAVED = "node.saved"
    RUN_PAUSED = "run.paused"
    RUN_HANDED_BACK = "run.handed_back"
    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"
    BATCH_COMPLETED = "batch.completed"
    BUDGET_REACHED = "budget.reached"
    TEXT_DELTA = "text.delta"
    SNAPSHOT = "snapshot"


class FactStatus(StrEnum):
    """Whether a fact is shown: a candidate stays out of sight until its confidence rises.

    A disputed fact is shown with what contradicts it, since without that it would be accepted. A superseded one is out of
    sight, since none of the sources that bore it out does so any more.
    """

    ACCEPTED = "accepted"
    DISPUTED = "disputed"
    CANDIDATE = "candidate"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"


SHOWN_STATUSES = (FactStatus.ACCEPTED, FactStatus.DISPUTED)
HIDDEN_STATUSES = (FactStatus.CANDIDATE, FactStatus.SUPERSEDED)  # shown to whoever asks for candidates


class Meeting(StrEnum):
    """How a run met a fact: it stored it, confirmed one that was there, got it from a search, or cites it."""

    STORED = "stored"
    CONFIRMED = "confirmed"
    SEARCHED = "searched"
    CITED = "cited"


class SearchMode(StrEnum):
    """What a search ranks facts by: the meaning of their words, the words themselves, or both."""

    HYBRID = "hybrid"
    VECTOR = "vector"
    TEXT = "text"


class QuoteState(StrEnum):
    """Whether a quote was found word for word in a snapshot of its source."""

    VERIFIED = "verified"
    UNVERIFIED = "unverified"


class Ground(StrEnum):
    """Whether a source still says what a fact rests on; the other words are the marks by which a fact shows that it does not."""

    STANDS = "stands"
    CONTEXT_CHANGED = "context changed"  # the quote stands there among other words: a doubt, and no loss
    CHANGED = "source changed"
    GONE = "source gone"
    RETRACTED = "source retracted"

    @property
    def is_lost(self) -> bool:
        """Whether the source no longer has the quote."""
        return self not in (Ground.STANDS, Ground.CONTEXT_CHANGED)

    @property
    def loss(self) -> str:
        """What became of the source, as a sentence about it goes on; empty where it stands."""
        return {
            Ground.CONTEXT_CHANGED: "the words around it have changed since",
            Ground.CHANGED: "the source no longer says so",
            Ground.GONE: "the source is gone",
            Ground.RETRACTED: "the source was retracted",
        }.get(self, "")


class SourceKind(StrEnum):
    """What kind of source an address is; the band of its score follows from it.

    `own` are documents of one's own, `unknown` is what no table names.
    """

    ACADEMIC = "academic"
    OFFICIAL = "official"
    EXPERT = "expert"
    GENERAL = "general"
    USER_GENERATED = "user-generated"
    OWN = "own"
    UNKNOWN = "unknown"

    @property
    def words(self) -> str:
        """As a sentence calls it."""
        return {SourceKind.OWN: "a document of one's own", SourceKind.UNKNOWN: "of unknown kind"}.get(
            self, str(self)
        )


class ChangeKind(StrEnum):
    """What became of a source after it was read."""

    CHANGED = "changed"
    GONE = "gone"
    BACK = "back"


class Relation(StrEnum):
    """How a new statement stands to one that is known; an unlinked pair is `new` to each other."""

    SAME = "same"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    QUALIFIES = "qualifies"
    NEW = "new"


class Decider(StrEnum):
    """Who decided how two facts stand to each other."""

    RULES = "rules"
    MODEL = "model"
    AGENT = "agent"


class ProposalKind(StrEnum):
    """What research proposes to do with a node of a coverage map."""

    ADD = "add"
    PREREQUISITE = "prerequisite"
    MERGE = "merge"
    REMOVE = "remove"


class ProposalState(StrEnum):
    """Whether a proposal was decided."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class LessonState(StrEnum):
    """Whether learners can read a lesson."""

    DRAFT = "draft"
    HANDED_IN = "handed_in"


class Verdict(StrEnum):
    """Whether a quote, with the text around it, supports a statement.

    Only a model finds that it is supported; rules only doubt (`partly`, `contradicted`), and else it is unchecked.
    """

    SUPPORTED = "supported"
    PARTLY = "partly"
    CONTRADICTED = "contradicted"
    SILENT = "silent"
    UNCHECKED = "unchecked"

    @property
    def is_refusal(self) -> bool:
        """Whether a statement is not stored with that quote."""
        return self in (Verdict.CONTRADICTED, Verdict.SILENT)

    @property
    def is_doubt(self) -> bool:
        """Whether a statement with that quote counts like one without any."""
        return self.is_refusal or self is Verdict.PARTLY


class QuestionKind(StrEnum):
    """What a question asks of a learner: to remember a fact, to use it on a case, or to carry it elsewhere."""

    RECALL = "recall"
    APPLICATION = "application"
    TRANSFER = "transfer"


class Mark(StrEnum):
    """What an answer is worth; a doubtful one moves no mastery until somebody settles it."""

    RIGHT = "right"
    WRONG = "wrong"
    DOUBTFUL = "doubtful"


class Marker(StrEnum):
    """Who marked an answer."""

    RULE = "rule"
    MODEL = "model"
    LEARNER = "learner"


class ColumnType(StrEnum):
    """What stands in the cells of a column."""

    TEXT = "text"
    INT = "int"
    FLOAT = "float"
    BOOL = "bool"
    DATE = "date"
    URL = "url"


class SubscriptionState(StrEnum):
    """Whether a subscription comes due: a paused one waits for somebody, an ended one is over."""

    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


class AccessScope(StrEnum):
    """What a key may do; each includes the ones before it."""

    READ = "read"
    SUBMIT = "submit"
    ADMIN = "admin"


class BudgetPeriod(StrEnum):
    """What the budget of a key is for: each day (UTC), or all of its time."""

    DAY = "day"
    TOTAL = "total"


class AllotmentAct(StrEnum):
    """What adds a row to the ledger of what keys give: acts, and what follows when a budget is lowered or a batch ends."""

    OPENING = "opening"  # of the ledger, for batches that were open then
    SUBMIT = "submit"
    RAISE = "raise"
    RETRY = "retry"
    SAY = "say"
    RETURNED = "returned"
    SPENT = "spent"


class NoticeKind(StrEnum):
    """What a webhook can be sent. Those that are events of runs are called as these."""

    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"
    RUN_PAUSED = "run.paused"
    BATCH_COMPLETED = "batch.completed"
    BUDGET_REACHED = "budget.reached"
    SUBSCRIPTION_NEWS = "subscription.news"
    WEBHOOK_TEST = "webhook.test"


class WebhookFormat(StrEnum):
    """What a webhook is sent: a signed body after Standard Webhooks, one for Slack, or a mail."""

    STANDARD = "standard"
    SLACK = "slack"
    MAIL = "mail"


class WebhookState(StrEnum):
    """Whether a webhook is sent anything: a person pauses it; one that fails for days is off."""

    ACTIVE = "active"
    PAUSED = "paused"
    OFF = "off"


class DeliveryState(StrEnum):
    """What became of a delivery: a waiting one is sent when it is due."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class JourneyState(StrEnum):
    """Where a learner stands on the way through a subject."""

    IDLE = "idle"
    INITIALIZING = "initializing"
    RESEARCHING = "researching"
    ASSESSING = "assessing"
    GENERATING_LESSON = "generating_lesson"
    DELIVERING_LESSON = "delivering_lesson"
    EXERCISING = "exercising"


class JourneyEvent(StrEnum):
    """What moves a journey on, or holds it."""

    STARTED = "started"
    MAPPED = "mapped"
    ROUND_ENDED = "round_ended"
    RESEARCHED = "researched"
    QUESTIONS_WRITTEN = "questions_written"
    LESSON_WRITTEN = "lesson_written"
    LESSON_STALE = "lesson_stale"
    LESSON_READ = "lesson_read"
    QUIZ_FINISHED = "quiz_finished"
    MASTERED = "mastered"
    REVIEW_DUE = "review_due"
    PAUSED = "paused"
    RUN_FAILED = "run_failed"
    NOTHING_FOUND = "nothing_found"
    NODE_SKIPPED = "node_skipped"
    CANCELLED = "cancelled"
    RESUMED = "resumed"


class Duty(StrEnum):
    """What workers do besides runs, item by item."""

    RESCUE = "rescue"
    DISPATCH = "dispatch"
    BATCHES = "batches"
    SUBSCRIPTIONS = "subscriptions"
    COMPARISONS = "comparisons"
    JOURNEYS = "journeys"
    RECHECKS = "rechecks"
    DELIVERIES = "deliveries"
    VECTOR_INDEXES = "vector_indexes"
    WORDS = "words"
    FACT_RECORDS = "fact_records"


class ReportKind(StrEnum):
    """What a report or an export is about."""

    RUN = "run"
    BATCH = "batch"
    SUBJECT = "subject"


class Outcome(StrEnum):
    """What became of a dispatched message."""

    NOT_OURS = "not ours"  # there was nothing to acquire
    PLAYED = "played"
    FAILED = "failed"
    LEFT = "left"  # handed back, paused, or lost to another worker
