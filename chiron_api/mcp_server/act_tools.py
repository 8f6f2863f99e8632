"""The tools of acts: those of MCP clients that follow from the declaration of an act."""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, get_args
from uuid import UUID

from pydantic import BaseModel, Field, create_model

from chiron_api.acts.act import Act, Created, ToolFace
from chiron_api.acts.discovery import all_acts
from chiron_api.acts.inputs import Input, Name
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
    """The services of the call under way, on behalf of its caller."""
    return _services.get()


class ActTool(Tool):
    """An act as a tool: its path, its input and its idempotency key are one flat set of arguments."""

    def __init__(self, act: Act[..., Any], face: ToolFace) -> None:
        self.act, self._face = act, face
        self.name = face.name
        words = inspect.cleandoc(face.words) or act.description
        self.description = "\n\n".join(
            filter(None, [words, inspect.cleandoc(face.next_step), _returns(act, face)])
        )
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
            options[act.input.name] = act.input.annotation.model_validate(values, by_name=True)
        return options

    async def run(self, store: Store, arguments: Mapping[str, Any]) -> Any:
        """The members of the answer, or one; `is_new` is among them where it may be of what was there already."""
        outcome = await self.act(current_services(), **arguments)
        if isinstance(outcome, Created):
            return {"is_new": outcome.is_new} | outcome.answer.model_dump(exclude_unset=True)
        if not isinstance(outcome, Answer):
            return outcome
        if self._face.reading:
            body = self.act.arguments.input
            return self._face.reading(outcome, arguments[body.name] if body else None)
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
    hint: Any = model.model_fields[name].annotation
    item: type[Answer] = get_args(hint)[0] if get_args(hint) else hint
    return item


def _returns(act: Act[..., Any], face: ToolFace) -> str:
    """What the tool gives, in the words of its model, unless the face has words of its own."""
    if not act.arguments.answer or face.reading:
        return ""
    answer = " ".join((_part_of(act.arguments.answer, face.part).__doc__ or "").split())
    is_new = " `is_new` is false where it was there already." if act.arguments.may_exist else ""
    return f"Returns: {answer}{is_new}"


def _model_of(act: Act[..., Any], face: ToolFace) -> type[BaseModel]:
    """The input of the act with the other arguments beside it, so that its validators run."""
    outer: dict[str, Any] = {}
    if path := act.arguments.path:
        kind = UUID if path.annotation is UUID else Name
        outer[face.path_argument] = Annotated[kind, Field(description=face.path_words)], ...
    inner: dict[str, Any] = {}
    if act.arguments.takes_key:
        key = Annotated[str, Field(min_length=1, max_length=KEY_CHARS_MAX)]
        inner["idempotency_key"] = Annotated[key | None, Field(description=KEY_WORDS)], None
    for name, alias in face.names.items():
        field = (act.input_model or Input).model_fields[name]
        inner[name] = (
            Annotated[field.rebuild_annotation(), Field(alias=alias, description=field.description)],
            field.default,
        )
    # The fields of the last base come first: what the path names.
    bases = (act.input_model or Input, create_model("Outer", **outer))
    return create_model(face.name, __base__=bases, **inner)
