import asyncio
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import docstring_parser

from chiron_workers.errors import ToolRegistrationError
from chiron_workers.toolkit.arguments import validated
from chiron_workers.toolkit.schema import Parameter, input_schema, parameters_of

if TYPE_CHECKING:
    from chiron_workers.store import Store

Function = TypeVar("Function", bound=Callable[..., Any])
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what the Messages API accepts

_tools: dict[Callable[..., Any], "Tool"] = {}


@dataclass(frozen=True, slots=True)
class Tool:
    """A function as a model sees it: a name, a description and the schema of its arguments."""

    name: str
    description: str
    input_schema: dict[str, Any]
    function: Callable[..., Any]
    parameters: tuple[Parameter, ...]

    @staticmethod
    def of(function: Callable[..., Any]) -> "Tool":
        """The tool that `@tool` made of a function. Raises ToolRegistrationError if it made none."""
        found = _tools.get(function)
        if found is None:
            name = getattr(function, "__name__", repr(function))
            raise ToolRegistrationError(f"{name} is not a tool; decorate it with @tool.", tool=name)
        return found

    def definition(self) -> dict[str, Any]:
        """The tool in the Messages API's format."""
        return {"name": self.name, "description": self.description, "input_schema": self.input_schema}

    def validate(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments as a model sent them, as the function wants them. Raises ToolValidationError."""
        return validated(self.name, self.parameters, self.input_schema, arguments)

    async def run(self, store: "Store", arguments: Mapping[str, Any]) -> Any:
        """What the function returns for validated arguments; a plain function runs in a thread."""
        first = (store,) if _takes_store(self.function) else ()
        if inspect.iscoroutinefunction(self.function):
            return await self.function(*first, **arguments)
        return await asyncio.to_thread(_finish, self.function, first, arguments)


def tool(function: Function) -> Function:
    """Offer a typed function to agents; the function itself is returned unchanged.

    Its name, its Google-style docstring and its hints become what the model reads. A first parameter called
    `store` is handed in by the caller and not part of the schema.

    Raises:
        ToolRegistrationError: It has *args or **kwargs, a parameter without a hint, or no docstring.
    """
    name = function.__name__
    if not NAME.fullmatch(name):
        raise ToolRegistrationError(
            f"{name}: a tool's name has 1 to 64 of A-Z, a-z, 0-9, _ and -.", tool=name
        )
    if not (function.__doc__ or "").strip():
        raise ToolRegistrationError(f"{name} has no docstring; it is what the model reads.", tool=name)
    parameters = parameters_of(function)
    doc = docstring_parser.parse(inspect.getdoc(function) or "", docstring_parser.DocstringStyle.GOOGLE)
    described = {entry.arg_name: entry.description for entry in doc.params if entry.description}
    schema = input_schema(parameters, described)
    _tools[function] = Tool(name, _description(doc), schema, function, parameters)
    return function


def is_tool(function: Callable[..., Any]) -> bool:
    """Whether `@tool` was put on a function."""
    return function in _tools


def _description(doc: docstring_parser.Docstring) -> str:
    returns = doc.returns.description if doc.returns else None
    parts = [doc.description, f"Returns: {returns}" if returns else None]
    return "\n\n".join(text.strip() for text in parts if text)


@cache
def _takes_store(function: Callable[..., Any]) -> bool:
    return next(iter(inspect.signature(function).parameters), "") == "store"


def _finish(function: Callable[..., Any], first: tuple[Any, ...], arguments: Mapping[str, Any]) -> Any:
    try:
        return function(*first, **arguments)
    except StopIteration as error:  # A future cannot carry it: whoever waits would wait for ever.
        raise RuntimeError("the tool stopped with StopIteration") from error
