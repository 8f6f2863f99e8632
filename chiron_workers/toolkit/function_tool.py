import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

import docstring_parser

from chiron_workers.errors import ToolRegistrationError
from chiron_workers.toolkit.arguments import Arguments
from chiron_workers.toolkit.schema import model_of
from chiron_workers.toolkit.threads import in_thread
from chiron_workers.toolkit.tool import Tool, require_name

if TYPE_CHECKING:
    from chiron_workers.store import Store

Function = TypeVar("Function", bound=Callable[..., Any])

_tools: dict[Callable[..., Any], "FunctionTool"] = {}


@dataclass(frozen=True)
class FunctionTool(Tool):
    """A typed function as a tool."""

    name: str
    description: str
    input_schema: dict[str, Any]
    function: Callable[..., Any]
    arguments: Arguments
    needs_run: bool = False
    timeout_s: float | None = None
    roles: frozenset[str] = frozenset()
    needs_columns: bool = False

    @cached_property
    def takes_store(self) -> bool:
        """Whether the function's first parameter is the store of the call."""
        return next(iter(inspect.signature(self.function).parameters), "") == "store"

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments as a model sent them, as the function wants them. Raises ToolValidationError."""
        values = self.arguments.validate(arguments)
        fields = type(values).model_fields
        return {
            str(fields[name].alias): getattr(values, name)
            for name in fields
            if name in values.model_fields_set
        }

    async def run(self, store: "Store", arguments: Mapping[str, Any]) -> Any:
        """What the function returns for validated arguments; a plain function runs in a thread."""
        store_argument = (store,) if self.takes_store else ()
        if inspect.iscoroutinefunction(self.function):
            return await self.function(*store_argument, **arguments)
        return await in_thread(lambda: self.function(*store_argument, **arguments), name=self.name)


@overload
def tool(function: Function) -> Function: ...


@overload
def tool(
    *,
    needs_run: bool = False,
    timeout_s: float | None = None,
    roles: Collection[str] = (),
    needs_columns: bool = False,
) -> Callable[[Function], Function]: ...


def tool(
    function: Callable[..., Any] | None = None,
    *,
    needs_run: bool = False,
    timeout_s: float | None = None,
    roles: Collection[str] = (),
    needs_columns: bool = False,
) -> Any:
    """Offer a typed function to agents; the function itself is returned unchanged.

    Its name, its Google-style docstring and its hints become what the model reads. A first parameter called
    `store` is handed in by the caller and not part of the schema.

    Args:
        needs_run: It makes sense within a run only, so MCP does not offer it.
        timeout_s: Seconds a call may take, where the settings' `tool_timeout_s` is not right.
        roles: Those whose runs are offered it; left out, all. A role that names its tools is offered what it names.
        needs_columns: It is offered only to runs that are asked for rows.

    Raises:
        ToolRegistrationError: It has *args or **kwargs, a parameter without a hint, or no docstring.
    """
    if function is None:
        return lambda decorated: _register(
            decorated, needs_run, timeout_s, frozenset(roles), needs_columns=needs_columns
        )
    return _register(function, needs_run, timeout_s, frozenset(roles), needs_columns=needs_columns)


def tool_of(function: Callable[..., Any]) -> FunctionTool:
    """The tool that `@tool` made of a function. Raises ToolRegistrationError if it made none."""
    known_tool = _tools.get(function)
    if known_tool is None:
        name = getattr(function, "__name__", repr(function))
        raise ToolRegistrationError(f"{name} is not a tool; decorate it with @tool.", tool=name)
    return known_tool


def is_tool(function: Callable[..., Any]) -> bool:
    """Whether `@tool` was put on a function."""
    return function in _tools


def _register(
    function: Function,
    needs_run: bool,
    timeout_s: float | None,
    roles: frozenset[str],
    *,
    needs_columns: bool,
) -> Function:
    name = require_name(function.__name__)
    if not (function.__doc__ or "").strip():
        raise ToolRegistrationError(f"{name} has no docstring; it is what the model reads.", tool=name)
    model = model_of(function)
    doc = docstring_parser.parse(inspect.getdoc(function) or "", docstring_parser.DocstringStyle.GOOGLE)
    descriptions = {entry.arg_name: entry.description for entry in doc.params if entry.description}
    arguments = Arguments(name, model, descriptions)
    _tools[function] = FunctionTool(
        name,
        _description(doc),
        arguments.schema,
        function,
        arguments,
        needs_run,
        timeout_s,
        roles,
        needs_columns,
    )
    return function


def _description(doc: docstring_parser.Docstring) -> str:
    # What stands before a first colon is read as a type, and is most often the name of what is returned.
    returned = [doc.returns.type_name, doc.returns.description] if doc.returns else []
    returns = ": ".join(text for text in returned if text)
    parts = [doc.description, f"Returns: {returns}" if returns else None]
    return "\n\n".join(text.strip() for text in parts if text)
