"""What somebody writes into the form, as a batch."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from itertools import islice

from pydantic import ValidationError

from chiron_api.acts.batches import BatchRequest, column_requests
from chiron_api.http.problems import Problem, validation_problem
from chiron_workers.batches.topics import text_topics
from chiron_workers.runs.columns import read_columns

TOPICS_MAX = 10_000  # of one form; the API and the command take more
OPTIONS = (
    "subject",
    "name",
    "model",
    "budget_usd",
    "run_budget_usd",
    "max_turns",
    "concurrency",
    "context",
)


@dataclass(frozen=True, slots=True)
class Draft:
    """The fields as they were written, and the topics among them; of too many one more than a form takes."""

    fields: Mapping[str, str]
    topics: tuple[str, ...]
    text: str = ""  # that the topics are the lines of

    def request(self) -> BatchRequest:
        """What is submitted. Raises Problem 422 and UsageError, which say what is missing or wrong."""
        if not self.topics:
            raise Problem(
                HTTPStatus.UNPROCESSABLE_ENTITY, "Write a topic a line, or choose a file of topics."
            )
        if len(self.topics) > TOPICS_MAX:
            detail = f"A form takes {TOPICS_MAX:,} topics; the API takes more, and so does the command line."
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail)
        values: dict[str, object] = {
            name: text for name in OPTIONS if (text := self.fields.get(name, "").strip())
        }
        if "subject" not in values:
            raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "Say which subject the facts belong to.")
        if columns := self.fields.get("columns", "").strip():
            values["columns"] = column_requests(read_columns(columns))
        try:
            return BatchRequest.model_validate(
                values | {"topics": list(self.topics)}, context={"is_text": True}
            )
        except ValidationError as error:
            raise validation_problem(error) from None


def draft_of(fields: Mapping[str, str]) -> Draft:
    """The draft that the fields of a form hold: the topics of its lines and of its file."""
    text = "\n".join(part for part in (fields.get("topics", ""), fields.get("file", "")) if part)
    topics = tuple(topic for topic, _ in islice(text_topics(text), TOPICS_MAX + 1))
    return Draft({name: fields.get(name, "") for name in ("topics", *OPTIONS, "columns")}, topics, text)
