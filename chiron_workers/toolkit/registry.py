import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from chiron_workers.errors import (
    LeaseLost,
    ToolError,
    ToolExecutionError,
    ToolNotFoundError,
    ToolRegistrationError,
    ToolTimeoutError,
)
from chiron_workers.nearest import suggestion
from chiron_workers.toolkit.function_tool import tool_of
from chiron_workers.toolkit.loading import Broken, files_of, module_from, modules_of, tools_of
from chiron_workers.toolkit.tool import Tool

if TYPE_CHECKING:
    from chiron_workers.store import Store

Hook = Callable[[Tool], None]


class Registry:
    """The tools that are offered, by name.

    `before_load`, `after_load` and `before_unload` are lists of functions that are called with each tool; one that
    raises a ToolError before a load or an unload forbids it. `broken` is what `load_from_directory` left out.
    `stand_ins` are asked for a tool that is not registered, such as one of a server that is away.
    """

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self.before_load: list[Hook] = []
        self.after_load: list[Hook] = []
        self.before_unload: list[Hook] = []
        self.broken: list[Broken] = []
        self.stand_ins: list[Callable[[str], Tool | None]] = []

    def register(self, tool: Tool | Callable[..., Any], *, allow_replace: bool = False) -> Tool:
        """Offer a tool, or a function that `@tool` was put on.

        Raises:
            ToolRegistrationError: The name is taken without `allow_replace`, or the function is no tool.
        """
        registered_tool = tool if isinstance(tool, Tool) else tool_of(tool)
        replaced_tool = self._tools.get(registered_tool.name)
        if replaced_tool is not None and not allow_replace:
            raise ToolRegistrationError(
                f"A tool named {registered_tool.name} is there already; pass allow_replace=True to replace it.",
                tool=registered_tool.name,
            )
        _call(self.before_load, registered_tool)
        if replaced_tool is not None:
            _call(self.before_unload, replaced_tool)
        self._tools[registered_tool.name] = registered_tool
        _call(self.after_load, registered_tool)
        return registered_tool

    def unregister(self, name: str) -> Tool:
        """Offer a tool no longer. Raises ToolNotFoundError."""
        _call(self.before_unload, self.get(name))
        return self._tools.pop(name)

    def replace(self, names: Iterable[str], tools: Sequence[Tool]) -> list[Tool]:
        """Offer these tools in place of those of these names; all of it or nothing. Raises ToolRegistrationError."""
        before = dict(self._tools)
        try:
            for name in names:
                if name in self._tools:
                    self.unregister(name)
        except ToolError:
            self._tools = before
            raise
        try:
            return self._register_all(tools)
        except ToolError:
            self._tools = before
            raise

    def get(self, name: str) -> Tool:
        """The tool of that name. Raises ToolNotFoundError, which names the nearest ones."""
        if name not in self._tools:
            if stand_in := next(filter(None, (ask(name) for ask in self.stand_ins)), None):
                return stand_in
            hint = suggestion(name, self._tools) or f" There are: {', '.join(sorted(self._tools))}."
            raise ToolNotFoundError(f"There is no tool {name!r}.{hint}", tool=name)
        return self._tools[name]

    def includes(self, name: str) -> bool:
        """Whether a tool of that name is registered."""
        return name in self._tools

    def all(self) -> list[Tool]:
        """Every tool, by name."""
        return [self._tools[name] for name in sorted(self._tools)]

    def definitions(self, allows: Callable[[Tool], bool] | None = None) -> list[dict[str, Any]]:
        """Every tool in the Messages API's format, by name, so that the same tools always read the same.

        Args:
            allows: Which of them are meant. None: all.
        """
        return [
            tool.definition() for tool in self.all() if tool.is_offered and (allows is None or allows(tool))
        ]

    def openai_definitions(self) -> list[dict[str, Any]]:
        """Every tool in the format of OpenAI's chat completions, by name."""
        return [tool.openai_definition() for tool in self.all() if tool.is_offered]

    def load_from_module(self, module: ModuleType | str) -> list[Tool]:
        """Register every tool that a module defines, or the modules of a package; they are returned.

        Raises:
            ToolRegistrationError: It cannot be imported, or a name is taken; none of its tools stays registered.
        """
        modules = list(modules_of(module)) if isinstance(module, str) else [module]
        return self._register_all([tool for module in modules for tool in tools_of(module)])

    def load_from_directory(self, folder: Path) -> list[Tool]:
        """Register every tool of a folder's modules and packages; they are returned.

        A module that cannot be imported, or whose tools cannot be registered, is left out and noted in `broken`.

        Raises:
            ToolRegistrationError: The folder itself cannot be read.
        """
        tools: list[Tool] = []
        for file in files_of(folder):
            try:
                tools += self._register_all(tools_of(module_from(file)))
            except ToolError as error:
                self.broken.append(Broken(str(file), str(error)))
        return tools

    async def execute(
        self, name: str, store: "Store", arguments: Mapping[str, Any], *, timeout_s: float | None = None
    ) -> Any:
        """Run a tool with arguments as a model sent them; what it returns, as JSON data.

        Args:
            timeout_s: Seconds it may take, where the tool names no time of its own.

        Raises:
            ToolError: What went wrong with the call, worded for the model. A failure of the tool itself is a
                ToolExecutionError with the exception as its cause.
            LeaseLost: The run belongs to somebody else now, which is no business of the model's.
        """
        tool = self.get(name)
        limit_s = tool.timeout_s or timeout_s
        try:
            async with asyncio.timeout(limit_s) as limit:
                result = await tool.run(store, tool.validate(arguments))
                return to_jsonable_python(result, inf_nan_mode="null")
        except ToolError as error:
            error.tool = error.tool or name
            raise
        except LeaseLost:
            raise
        except (Exception, SystemExit) as error:  # whatever a tool does is data for the model
            if isinstance(error, TimeoutError) and limit.expired():
                message = f"{name} was stopped after {limit_s:g} s. Ask for less at a time."
                raise ToolTimeoutError(message, tool=name) from None
            message = f"{name} failed: {str(error) or type(error).__name__}"
            raise ToolExecutionError(message, tool=name) from error

    def _register_all(self, tools: Sequence[Tool]) -> list[Tool]:
        before = dict(self._tools)
        try:
            return [self.register(tool) for tool in tools]
        except ToolError:
            self._tools = before
            raise


def _call(hooks: Iterable[Hook], tool: Tool) -> None:
    for hook in hooks:
        hook(tool)
