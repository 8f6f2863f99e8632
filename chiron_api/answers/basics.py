"""What the models of answers share."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

Usd = Annotated[Decimal, WithJsonSchema({"type": "number"})]
RunState = Literal["queued", "running", "paused", "completed", "failed", "cancelled"]


class Answer(BaseModel):
    """What the API answers. A field that only a newer server knows is passed over."""

    # Programs load all models and use a few, so each is built when it is first used.
    model_config = ConfigDict(frozen=True, from_attributes=True, defer_build=True)


class Usage(Answer):
    """Tokens as they are billed, no two counts overlapping, and what they cost.

    `spent_usd` is null where the cost of a call is not known; `spent_usd_min` is what is known of it, and `unpriced_calls`
    counts the calls of which nobody knows. `unconfirmed_usd` is what calls may have cost whose replies are lost. `services_usd`
    is the part of `spent_usd` that hosted embedding models and search providers charge; null where the price of one is not known.
    """

    input_tokens: int
    cache_write_tokens: int
    cache_read_tokens: int
    output_tokens: int
    spent_usd: Usd | None
    spent_usd_min: Usd
    services_usd: Usd | None = Decimal()
    services_usd_min: Usd = Decimal()
    unpriced_calls: int
    unconfirmed_usd: Usd | None
    unconfirmed_calls: int


class Hold(Answer):
    """A model whose runs wait, until when, and why."""

    model: str
    until: datetime
    reason: str


class Remedy(Answer):
    """Something that helps with a problem: `words` for people, and the request that does it, if one does.

    `action` is `resume`, `retry`, `cancel`, `submit` or `say` of a run or a batch, `start` or `stop` of a journey, `revoke` of a
    key, `list`, `check_model` or `change_setting`; `target` is its id, or the name of the model, the key or the setting.
    `arguments` go into `body`. `method`, `path` and `body` are left out where no request does it. `tool` names the tool of MCP
    that does, if there is one.
    """

    action: str
    noun: str
    target: str
    arguments: dict[str, str] = Field(default_factory=dict)
    words: str
    method: str | None = None
    path: str | None = None
    body: dict[str, Any] | None = None
    tool: str | None = None


class Failure(Answer):
    """Why something failed: the kind in a word, what happened in a sentence, and what helps. Some kinds say more."""

    model_config = ConfigDict(frozen=True, extra="allow")

    kind: str
    message: str
    remedies: list[Remedy] = Field(default_factory=list)


class FieldError(Answer):
    """A field that cannot be used, and what is wrong with it."""

    field: str
    message: str


class Problem(Answer):
    """An error, after RFC 9457: what went wrong in `detail`, `errors` where fields are named, and `remedies` if some help."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError] = Field(default_factory=list)
    remedies: list[Remedy] = Field(default_factory=list)


class Receipt(Answer):
    """The batch that was stored and its runs, in the order of its topics; `warnings` name possible mistakes."""

    batch_id: UUID
    run_ids: list[UUID]
    warnings: list[str] = Field(default_factory=list)


class Health(Answer):
    """A server that is well."""

    status: Literal["ok", "ready"]
