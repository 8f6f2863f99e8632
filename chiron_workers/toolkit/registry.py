import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from chiron_workers.errors import (
    LeaseLost,
    ToolError,
    ToolExecutionError,
    ToolNotFoundError,
    ToolRegistrationError,
)
from chiron_workers.toolkit.tool import Tool, is_tool

if TYPE_CHECKING:
    from chiron_workers.store import Store


class Registry:
    """The tools that are offered, by name."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}

    def register(self, tool: Tool | Callable[..., Any], *, allow_replace: bool = False) -> Tool:
        """Offer a tool, or a function that `@tool` was put on.

        Raises:
            ToolRegistrationError: The name is taken without `allow_replace`, or the function is no tool.
        """
        found = tool if isinstance(tool, Tool) else Tool.of(tool)
        if found.name in self._tools and not allow_replace:
            raise ToolRegistrationError(
                f"A tool named {found.name} is there already; pass allow_replace=True to replace it.",
                tool=found.name,
            )
        self._tools[found.name] = found
        return found

    def unregister(self, name: str) -> Tool:
        """Offer a tool no longer. Raises ToolNotFoundError."""
        self.get(name)
        return self._tools.pop(name)

    def get(self, name: str) -> Tool:
        """The tool of that name. Raises ToolNotFoundError, which names the nearest ones."""
        if name not in self._tools:
            near = difflib.get_close_matches(name, self._tools, n=3)
            hint = (
                f"Did you mean {' or '.join(near)}?"
                if near
                else f"There are: {', '.join(sorted(self._tools))}."
            )
            raise ToolNotFoundError(f"There is no tool {name!r}. {hint}", tool=name)
        return self._tools[name]

    def all(self) -> list[Tool]:
        """Every tool, by name."""
        return [self._tools[name] for name in sorted(self._tools)]

    def definitions(self) -> list[dict[str, Any]]:
        """Every tool in the Messages API's format, by name, so that the same tools always read the same."""
        return [tool.definition() for tool in self.all()]

    def load_package(self, name: str) -> list[Tool]:
        """Register every tool that the modules of a package define; they are returned.

        Raises:
            ToolRegistrationError: A name is taken, or the package is none.
        """
        package = importlib.import_module(name)
        if not hasattr(package, "__path__"):
            raise ToolRegistrationError(f"{name} is a module, not a package.")
        loaded = []
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            module = importlib.import_module(found.name)
            loaded += [self.register(function) for function in _own_tools(module)]
        return loaded

    async def execute(self, name: str, store: "Store", arguments: Mapping[str, Any]) -> Any:
        """Run a tool with arguments as a model sent them; what it returns, as JSON data.

        Raises:
            ToolError: What went wrong with the call, worded for the model. A failure of the tool itself is a
                ToolExecutionError with the exception as its cause.
            LeaseLost: The run belongs to somebody else now, which is no business of the model's.
        """
        tool = self.get(name)
        try:
            result = await tool.run(store, tool.validate(arguments))
            return to_jsonable_python(result, inf_nan_mode="null")
        except ToolError as error:
            error.tool = error.tool or name
            raise
        except LeaseLost:
            raise
        except Exception as error:  # whatever a tool does is data for the model
            raise ToolExecutionError(f"{name} failed: {_told(error)}", tool=name) from error


def _own_tools(module: ModuleType) -> list[Tool]:
    functions = [value for value in vars(module).values() if inspect.isfunction(value) and is_tool(value)]
    return [Tool.of(function) for function in functions if function.__module__ == module.__name__]


def _told(error: Exception) -> str:
    return str(error) or type(error).__name__
