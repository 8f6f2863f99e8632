"""The tools of acts: those of MCP clients that follow from the declaration of an act."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, get_args
from uuid import UUID

from pydantic import BaseModel, Field, create_model

from chiron_api.acts.act import Act, Created, ToolFace
from chiron_api.acts.discovery import all_acts
from chiron_api.answers.basics import Answer
from chiron_api.services import Services
from chiron_workers.batches.submit import KEY_CHARS_MAX
from chiron_workers.store import Store
from chiron_workers.toolkit.arguments import Arguments
from chiron_workers.toolkit.tool import Tool

KEY_WORDS = "Any text of your own. The same key with the same request starts nothing twice."
_services: ContextVar[Services] = ContextVar("services")


@contextmanager
def calling(services: Services) -> Iterator[None]:
    """Have the tools of acts called within use these services."""
    token = _services.set(services)
    try:
        yield
    finally:
        _services.reset(token)


def current_services() -> Services:
    """Those of the call under way."""
    return _services.get()


class ActTool(Tool):
    """An act as a tool: its path, its input and its idempotency key are one flat set of arguments."""

    def __init__(self, act: Act[..., Any], face: ToolFace) -> None:
        self.act, self._face = act, face
        self.name = face.name
        answer = _part_of(act.arguments.answer, face.part) if act.arguments.answer else None
        returns = " ".join((answer.__doc__ or "").split()) if answer else ""
        self.description = f"{act.description}\n\nReturns: {returns}" if returns else act.description
        self._arguments = Arguments(self.name, _model_of(act, face))
        self.input_schema = self._arguments.schema

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments as a model sent them, as the act wants them. Raises ToolValidationError."""
        model = self._arguments.validate(arguments)
        values = {name: getattr(model, name) for name in model.model_fields_set}
        act = self.act.arguments
        options: dict[str, Any] = {}
        if act.path:
            options[act.path.name] = values.pop(self._face.path_argument)
        if act.takes_key:
            options["idempotency_key"] = values.pop("idempotency_key", None)
        if act.input:
            options[act.input.name] = act.input.annotation.model_construct(**values)
        return options

    async def run(self, store: Store, arguments: Mapping[str, Any]) -> Any:
        """The members of the answer, or one; `is_new` is among them where it may be of what was there already."""
        outcome = await self.act(current_services(), **arguments)
        if isinstance(outcome, Created):
            return {"is_new": outcome.is_new} | outcome.answer.model_dump(exclude_unset=True)
        if not isinstance(outcome, Answer):
            return outcome
        members = outcome.model_dump(exclude_unset=True)
        if not self._face.part:
            return members
        store.search.words_only = members.get("note", "")
        return members[self._face.part]


def act_tools() -> list[ActTool]:
    """The tools that acts name."""
    return [ActTool(act, act.tool) for act in all_acts() if act.tool]


def _part_of(model: type[Answer], name: str) -> type[Answer]:
    """The model of a member of an answer, or of what it lists; without a name, of all of it."""
    if not name:
        return model
    hint = model.model_fields[name].annotation
    item: type[Answer] = get_args(hint)[0] if get_args(hint) else hint
    return item


def _model_of(act: Act[..., Any], face: ToolFace) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    if path := act.arguments.path:
        kind = UUID if path.annotation is UUID else str
        fields[face.path_argument] = Annotated[kind, Field(description=face.path_words)], ...
    if act.input_model:
        fields |= {
            name: (field.rebuild_annotation(), field) for name, field in act.input_model.model_fields.items()
        }
    if act.arguments.takes_key:
        key = Annotated[str, Field(min_length=1, max_length=KEY_CHARS_MAX, description=KEY_WORDS)]
        fields["idempotency_key"] = key | None, None
    return create_model(face.name, **fields)
