"""Tools found in modules: functions with `@tool`, and classes and objects of `BaseTool`."""

import hashlib
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from chiron_workers.errors import ToolRegistrationError
from chiron_workers.toolkit.base_tool import BaseTool
from chiron_workers.toolkit.function_tool import is_tool, tool_of
from chiron_workers.toolkit.tool import Tool

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Broken:
    """A module or tool that was left out, and why."""

    source: str
    reason: str


def modules_of(name: str) -> Iterator[ModuleType]:
    """A module, and those in it where it is a package. Raises ToolRegistrationError."""
    module = _imported(importlib.import_module, name)
    yield module
    for module_info in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
        yield _imported(importlib.import_module, module_info.name)


def module_named(place: str) -> ModuleType:
    """The module in a file, or the importable one that has this dotted name. Raises ToolRegistrationError."""
    if "/" in place or place.endswith(".py"):
        return module_from(Path(place).expanduser())
    return _imported(importlib.import_module, place)


def files_of(folder: Path) -> list[Path]:
    """The modules and packages of a folder, by name; what begins with `_` or `.` is no tool.

    Raises:
        ToolRegistrationError: The folder cannot be read.
    """
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise ToolRegistrationError(
            f"The tools in {folder} cannot be read: {error.strerror or error}."
        ) from None
    packages = [path / "__init__.py" for path in paths if path.name.isidentifier()]
    modules = [path for path in paths if path.suffix == ".py" and path.is_file()]
    files = [*modules, *(path for path in packages if path.is_file())]
    return [path for path in files if not _short_name(path).startswith(("_", "."))]


def module_from(file: Path) -> ModuleType:
    """The module in a file, under a name that hides no other module. Raises ToolRegistrationError."""
    place = hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:12]
    name = f"chiron_user_tools_{place}_{_short_name(file).replace('-', '_')}"
    inside = [str(file.parent)] if file.name == "__init__.py" else None
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=inside)
    if spec is None or spec.loader is None:
        raise ToolRegistrationError(f"{file} is no Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        _imported(spec.loader.exec_module, module)
    except ToolRegistrationError:
        del sys.modules[name]
        raise
    return module


def tools_of(module: ModuleType) -> list[Tool]:
    """The tools that a module itself defines, in the order it does; a class is taken as an object without arguments.

    Raises:
        ToolRegistrationError: An object of a class cannot be made.
    """
    values = list(vars(module).values())
    instance_classes = {type(value) for value in values if isinstance(value, BaseTool)}
    tools: list[Tool] = []
    for value in values:
        if inspect.isfunction(value) and is_tool(value) and value.__module__ == module.__name__:
            tools.append(tool_of(value))
        elif isinstance(value, BaseTool):
            tools.append(value)
        elif _is_own_class(value, module) and value not in instance_classes:
            try:
                tools.append(value())
            except (Exception, SystemExit) as error:
                message = f"{value.__name__} cannot be made: {error}"
                raise ToolRegistrationError(message, tool=value.name) from error
    return tools


def _imported(work: Callable[..., T], *args: Any) -> T:
    """What an import gives, whatever the module does while it is imported, `sys.exit` too."""
    try:
        return work(*args)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise ToolRegistrationError(f"It cannot be imported: {type(error).__name__}: {error}") from error


def _short_name(file: Path) -> str:
    return file.parent.name if file.name == "__init__.py" else file.stem


def _is_own_class(value: object, module: ModuleType) -> bool:
    is_class = inspect.isclass(value) and issubclass(value, BaseTool) and not inspect.isabstract(value)
    return is_class and getattr(value, "__module__", "") == module.__name__
