"""What somebody writes into the form, as a batch."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from http import HTTPStatus
from itertools import islice

from chiron_api.http.page.forms import amount, count
from chiron_api.http.problems import Problem
from chiron_workers.batches.submit import NewBatch, NewRun
from chiron_workers.batches.topics import text_topics
from chiron_workers.billing.budgets import Budget
from chiron_workers.runs.columns import read_columns
from chiron_workers.settings import Settings

TOPICS_MAX = 10_000  # of one form; the API and the command take more
FIELDS = (
    "topics",
    "subject",
    "name",
    "model",
    "budget_usd",
    "run_budget_usd",
    "max_turns",
    "concurrency",
    "columns",
)


@dataclass(frozen=True, slots=True)
class Draft:
    """The fields as they were written, and the topics among them; of too many one more than a form takes."""

    fields: Mapping[str, str]
    topics: tuple[str, ...]
    text: str = ""  # that the topics are the lines of

    @property
    def budget_usd(self) -> Decimal | None:
        """The budget of the whole batch."""
        return amount(dict(self.fields), "budget_usd")

    def batch(self, settings: Settings, *, idempotency_key: str | None) -> NewBatch:
        """What is submitted. Raises Problem 422, which says what is missing or wrong."""
        subject = self.fields.get("subject", "").strip()
        if not self.topics:
            raise Problem(
                HTTPStatus.UNPROCESSABLE_ENTITY, "Write a topic a line, or choose a file of topics."
            )
        if len(self.topics) > TOPICS_MAX:
            detail = f"A form takes {TOPICS_MAX:,} topics; `chiron submit --file` takes more."
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
        if not subject:
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "Say which subject the facts belong to.")
        fields = dict(self.fields)
        run_budget = Budget(amount(fields, "run_budget_usd"), None)
        model = fields.get("model", "").strip() or settings.model
        max_turns = count(fields, "max_turns") or settings.max_turns
        runs = [
            NewRun(topic, "research", subject, model, max_turns, budget=run_budget) for topic in self.topics
        ]
        name, budget = fields.get("name", "").strip(), Budget(self.budget_usd, None)
        return NewBatch(
            runs,
            subject,
            name,
            budget=budget,
            idempotency_key=idempotency_key,
            concurrency=count(fields, "concurrency"),
            columns=read_columns(columns) if (columns := fields.get("columns", "").strip()) else (),
        )


def draft_of(fields: Mapping[str, str]) -> Draft:
    """The draft that the fields of a form hold: the topics of its lines and of its file."""
    text = "\n".join(part for part in (fields.get("topics", ""), fields.get("file", "")) if part)
    topics = tuple(topic for topic, _ in islice(text_topics(text), TOPICS_MAX + 1))
    return Draft({name: fields.get(name, "") for name in FIELDS}, topics, text)
