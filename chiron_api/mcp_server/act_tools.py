"""Tools of MCP clients that derive from acts."""

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
from chiron_workers.batches.ownership import require_visible
from chiron_workers.batches.submit import KEY_CHARS_MAX
from chiron_workers.store import Store
from chiron_workers.toolkit.arguments import Arguments
from chiron_workers.toolkit.tool import Tool

KEY_WORDS = "Any text of your own. The same key with the same request starts nothing twice."
_services: ContextVar[Services] = ContextVar("services")


@contextmanager
def calling(services: Services) -> Iterator[None]:
    """Set the services that tools of acts use within the block."""
    token = _services.set(services)
    try:
        yield
    finally:
        _services.reset(token)


def current_services() -> Services:
    """The services of the current call, on behalf of its caller."""
    return _services.get()


class ActTool(Tool):
    """An act as a tool. The id in the path, the input and the idempotency key are one flat set of arguments."""

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
        """The arguments of the act from those that a model sent. Raises ToolValidationError."""
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
        """Return the fields of the answer, or one of them; `is_new` is among them if the act returns `Created`."""
        services, path = current_services(), self.act.arguments.path
        if self.act.is_owned and path and path.annotation is UUID:
            await require_visible(services.pool, arguments[path.name], services.principal.visible_owner)
        outcome = await self.act(services, **arguments)
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
    """The tools of all acts that declare one."""
    return [ActTool(act, act.tool) for act in all_acts() if act.tool]


def _part_of(model: type[Answer], name: str) -> type[Answer]:
    """The model of a field of an answer, or of the items in it; without a name, the model itself."""
    if not name:
        return model
    hint: Any = model.model_fields[name].annotation
    item: type[Answer] = get_args(hint)[0] if get_args(hint) else hint
    return item


def _returns(act: Act[..., Any], face: ToolFace) -> str:
    """The line `Returns:` from the docstring of the answer; empty if `reading` changes the answer."""
    if not act.arguments.answer or face.reading:
        return ""
    answer = " ".join((_part_of(act.arguments.answer, face.part).__doc__ or "").split())
    is_new = " `is_new` is false where it was there already." if act.arguments.may_exist else ""
    return f"Returns: {answer}{is_new}"


def _model_of(act: Act[..., Any], face: ToolFace) -> type[BaseModel]:
    """Extend the input of the act by the other arguments, so that its validators run."""
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
    # Pydantic puts the fields of the last base first: the id in the path.
    bases = (act.input_model or Input, create_model("Outer", **outer))
    return create_model(face.name, __base__=bases, **inner)
