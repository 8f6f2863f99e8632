import json
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Annotated, Any, TypedDict

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from chiron_workers.db.validation import collapse_whitespace
from chiron_workers.errors import BudgetSpent, ModelUnavailable, MoneyReserved, RunFailed, ToolError
from chiron_workers.knowledge.coverage.evaluations import Score
from chiron_workers.quotation import mark_for, quoted
from chiron_workers.runs.entries import Reply, storable
from chiron_workers.runs.session import SideModel
from chiron_workers.settings import OFFLINE_MODEL
from chiron_workers.store import Store
from chiron_workers.toolkit import tool

TEXT_CHARS_MAX = 60_000
CRITERIA_MAX = 10
TRIES = 2
TIMEOUT_S = 600.0  # For two model calls.
SCORE_WITHOUT_QUOTE_MAX = 3  # A low score for something missing has nothing to quote.
ANSWER_TOOL = "give_scores"
_PACKAGE = files("chiron_workers.tools")
ANSWER_TOOL_JSON = (_PACKAGE / "evaluation.json").read_text(encoding="utf-8")
PROMPT = Template((_PACKAGE / "evaluation.md").read_text(encoding="utf-8").rstrip("\n"))
Words = Annotated[str, Field(min_length=1, max_length=500)]


class Criterion(BaseModel):
    """What a text is judged by."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=60)]
    description: Words
    weight: Annotated[float, Field(gt=0, le=100)] = 1.0


class Judgement(BaseModel):
    """The model's judgement on one criterion."""

    criterion: str
    score: Annotated[int, Field(ge=1, le=5)]
    reason: Annotated[str, Field(min_length=1, max_length=2_000)]
    quote: Annotated[str, Field(max_length=1_000)]


class Evaluation(TypedDict):
    """Scores of 1 to 5 with their reasons; `overall` is their weighted mean."""

    evaluation_id: str
    overall: float
    scores: list[Score]


JUDGEMENTS = TypeAdapter(list[Judgement])


@tool(needs_run=True, timeout_s=TIMEOUT_S)
async def evaluation(
    store: Store,
    *,
    text: Annotated[str, Field(min_length=1, max_length=TEXT_CHARS_MAX)],
    criteria: Annotated[list[Criterion], Field(min_length=1, max_length=CRITERIA_MAX)],
    question: Annotated[str, Field(max_length=4_000)] = "",
) -> Evaluation:
    """Have a text, such as an answer or a report, scored against criteria, with the reasons.

    Args:
        text: What is judged.
        criteria: Each with a name, a description that says what deserves 5 and what 1, and a weight (1 if not given).
        question: What the text is to answer, if it answers something.

    Returns:
        evaluation_id, overall (1 to 5, the mean of the scores by weight), and scores: criterion, weight, score, reason,
        and quote, the words of the text that the score rests on (empty where something is missing from it).
    """
    names = [criterion.name for criterion in criteria]
    if len({name.casefold() for name in names}) < len(names):
        raise ToolError("criteria: two of them have the same name.")
    if not text.strip():
        raise ToolError("text: is empty; give the text that is to be judged.")
    side_model = _require_model(store)
    judgements = await _ask_for_judgements(side_model, _prompt(text, criteria, question), criteria, text)
    scores = [_score(criterion, judgements[criterion.name]) for criterion in criteria]
    total = sum(score["weight"] for score in scores)
    overall = sum(score["weight"] * score["score"] for score in scores) / total
    evaluation_id = await store.evaluations.add(
        text=text, question=question, model=side_model.model_name, scores=scores, overall=overall
    )
    return Evaluation(evaluation_id=str(evaluation_id), overall=round(overall, 2), scores=scores)


def _require_model(store: Store) -> SideModel:
    if store.side_model is None:
        raise ToolError("An evaluation asks the model of a run, and this is no run.")
    if store.side_model.model_name == OFFLINE_MODEL:
        raise ToolError("The offline model cannot judge texts; an evaluation needs a real model.")
    return store.side_model


def _prompt(text: str, criteria: Sequence[Criterion], question: str) -> str:
    criteria_list = "\n".join(
        f"- {json.dumps(criterion.name)}: {collapse_whitespace(criterion.description)}"
        for criterion in criteria
    )
    question_text = (
        f"The text is to answer this question:\n{quoted('question', question)}\n\n"
        if question.strip()
        else ""
    )
    return PROMPT.substitute(
        mark=mark_for("text", text),
        criteria=criteria_list,
        question=question_text,
        tool=ANSWER_TOOL,
        text=text,
    )


def _answer_tool(criteria: Sequence[Criterion]) -> dict[str, Any]:
    definition: dict[str, Any] = json.loads(ANSWER_TOOL_JSON)
    entry = definition["input_schema"]["properties"]["scores"]["items"]
    entry["properties"]["criterion"]["enum"] = [criterion.name for criterion in criteria]
    return definition


async def _ask_for_judgements(
    side_model: SideModel, question: str, criteria: Sequence[Criterion], text: str
) -> dict[str, Judgement]:
    problem = ""
    for _ in range(TRIES):
        retry_note = f"\n\nYour last answer could not be used: {problem} Answer again." if problem else ""
        try:
            reply = await side_model.ask(
                question + retry_note, tools=[_answer_tool(criteria)], max_tokens=1_000 + 600 * len(criteria)
            )
        except (RunFailed, ModelUnavailable, BudgetSpent, MoneyReserved) as error:
            raise ToolError(f"The model that judges does not answer: {error}") from None
        try:
            return read_judgements(reply, criteria, text)
        except ToolError as error:
            problem = str(error)
    raise ToolError(f"The model gave no scores that can be used, {TRIES} times: {problem}")


def read_judgements(reply: Reply, criteria: Sequence[Criterion], text: str) -> dict[str, Judgement]:
    """The judgements by criterion. Raises ToolError with the problem, for the model to correct."""
    arguments = next((call.arguments for call in reply.calls if call.name == ANSWER_TOOL), None)
    if arguments is None:
        raise ToolError(f"{ANSWER_TOOL} was not called.")
    try:
        judgements = JUDGEMENTS.validate_python(
            arguments.get("scores") if isinstance(arguments, dict) else None
        )
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in ("scores", *problem["loc"]))
        raise ToolError(f"{where}: {problem['msg']}.") from None
    judgement_by_name = {judgement.criterion: judgement for judgement in judgements}
    names = [criterion.name for criterion in criteria]
    if len(judgements) != len(names) or set(judgement_by_name) != set(names):
        raise ToolError(f"Each of {', '.join(names)} must be scored once, and nothing else.")
    text_words = collapse_whitespace(text)
    for judgement in judgements:
        if judgement.score > SCORE_WITHOUT_QUOTE_MAX and not judgement.quote.strip():
            raise ToolError(f"The score for {judgement.criterion} rests on no words of the text; quote some.")
        if collapse_whitespace(judgement.quote) not in text_words:
            raise ToolError(f"The quote for {judgement.criterion} does not stand in the text.")
    return judgement_by_name


def _score(criterion: Criterion, judgement: Judgement) -> Score:
    return Score(
        criterion=criterion.name,
        weight=criterion.weight,
        score=judgement.score,
        reason=storable(judgement.reason),
        quote=storable(judgement.quote),
    )
