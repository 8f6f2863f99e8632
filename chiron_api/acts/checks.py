"""Checks: have a model asked about facts that none has judged, by a run of the verifier in a batch of its own."""

import hashlib
import json
import math
from http import HTTPStatus
from typing import Annotated
from uuid import uuid4

from pydantic import Field

from chiron_api.acts.act import Created, Noun, Target, ToolFace
from chiron_api.acts.inputs import Flag, Name, Tokens, Usd
from chiron_api.acts.orders import Order
from chiron_api.answers.subjects import CheckReceipt
from chiron_api.services import Services
from chiron_workers.batches.submit import NAME_CHARS_MAX, NewBatch, NewRun, submit
from chiron_workers.errors import UsageError
from chiron_workers.knowledge.coverage.subjects import Subjects
from chiron_workers.knowledge.facts.checks import PAGE_FACTS, unchecked_of
from chiron_workers.knowledge.facts.verdicts import NOBODY
from chiron_workers.runs.session import Session
from chiron_workers.settings import OFFLINE_MODEL
from chiron_workers.states import BatchKind, Decider

CHECKS = Noun("Subjects", Target("subject"))
ROLE = "verifier"
SPARE_TURNS = 20  # for calls that fail, and for handing in
NOBODY_ASKED = (
    "CHIRON_VERDICT_MODEL is none, so nobody may be asked whether quotes support facts. Name a model there, or leave it "
    "empty for the configured one, and check again."
)


class Checking(Order):
    """The model that checks whether quotes support facts, and its budget; `again` repeats a check of the same facts."""

    model: Annotated[
        Name | None,
        Field(
            description="The model that checks, if CHIRON_VERDICT_MODEL names none. Default: CHIRON_MODEL."
        ),
    ] = None
    budget_usd: Annotated[
        Usd | None,
        Field(description="The most that the check may cost. It pauses there, and a resume continues it."),
    ] = None
    budget_tokens: Annotated[Tokens | None, Field(description="How many tokens the check may use.")] = None
    again: Annotated[Flag, Field(description="Check again, although the same facts were checked before.")] = (
        False
    )


PLAIN_CHECK = Checking()


@CHECKS.act(
    "subjects.check",
    "POST /v1/subjects/{id}/check",
    "Have facts checked against their quotes",
    client="check",
    status=HTTPStatus.ACCEPTED,
    location="/v1/batches/{batch_id}",
    idle="Nothing is open.",
    problems=(HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.NOT_FOUND),
    costs_money=True,
    repeatable=True,
    tool=ToolFace(
        "check_subject",
        "subject_id",
        "The subject, by its id or its name.",
        target="subject_id",
        next_step="""
            get_run tells when it is done. `unchecked` counts the quotes that are asked about, `unverified` those that cannot be,
            since the text of their source is not here. `judge` is rules where no model is configured.
        """,
    ),
)
async def check_subject(services: Services, id: str, body: Checking = PLAIN_CHECK) -> Created[CheckReceipt]:
    """Have a model asked whether quotes support the facts of a subject that no model has judged.

    Those are facts that were stored without a model to ask: outside of research, such as by store_knowledge, or imported.
    It returns at once; the batch tells when it is done. What a quote does not support is then shown no longer, and stays with
    the reason. The same facts, by the same model under the same budget, are the same batch.
    """
    session, settings = Session(services.pool), services.settings
    subject_id = (await Subjects(session).require(id))["subject_id"]
    verdict_model = settings.verdict_model
    if verdict_model == NOBODY:
        raise UsageError(NOBODY_ASKED)
    model = body.model or verdict_model or settings.model
    judge_model = model if model == OFFLINE_MODEL else verdict_model or model
    judge = Decider.RULES if judge_model == OFFLINE_MODEL else judge_model
    unchecked = await unchecked_of(session, subject_id)
    counts = {"subject_id": subject_id, "unverified": unchecked.unverified, "judge": judge}
    if unchecked.digest is None:
        return Created(CheckReceipt.model_validate({**counts, "unchecked": 0}), is_new=False)
    run = NewRun(
        topic=f"{unchecked.assertions:,} quotes of {subject_id}",
        role=ROLE,
        subject=subject_id,
        model=model,
        max_turns=max(settings.max_turns, math.ceil(unchecked.assertions / PAGE_FACTS) + SPARE_TURNS),
        budget=body.budget,
        scope=subject_id,
    )
    parts = [subject_id, unchecked.digest, model, str(body.budget_usd), str(body.budget_tokens)]
    key = uuid4().hex if body.again else hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    name = f"Check: {subject_id}"[:NAME_CHARS_MAX]
    new_batch = NewBatch([run], subject_id, name, idempotency_key=f"check {key}", kind=BatchKind.CHECK)
    batch = await submit(services.pool, new_batch, principal=services.principal)
    await services.notify(batch.batch_id)
    receipt = {"batch_id": batch.batch_id, "run_ids": batch.run_ids, "is_new": batch.is_new}
    checked = {**counts, "unchecked": unchecked.assertions, **receipt}
    return Created(CheckReceipt.model_validate(checked), is_new=True)
