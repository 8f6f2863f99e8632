"""Tools of the user's own folders: files that are new or changed are loaded again before a run is played."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from chiron_workers.errors import ToolError
from chiron_workers.toolkit.loading import Broken, files_of, module_from, tools_of
from chiron_workers.toolkit.registry import Registry
from chiron_workers.toolkit.tool import Tool

log = structlog.get_logger()

Stamp = tuple[tuple[str, int, int], ...]  # path, time of change and size of each source file


@dataclass(frozen=True, slots=True)
class _File:
    """A module or package as it was imported: its tools, or why there are none."""

    path: Path
    stamp: Stamp
    tools: Sequence[Tool] = ()
    problem: str = ""


@dataclass(slots=True)
class OwnTools:
    """Keeps the tools of folders in a registry as they stand in the files.

    A file that has become wrong is noted in the registry's `broken`, and what it offered before stays; one that is gone takes
    its tools with it.
    """

    registry: Registry
    folders: Sequence[Path]
    _stamps: dict[Path, Stamp] = field(default_factory=dict)
    _names: dict[Path, list[str]] = field(default_factory=dict)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def refresh(self) -> None:
        """Load what has changed. Importing happens in a thread; the registry changes between two steps of the event loop."""
        async with self._turn:
            files, problems = await asyncio.to_thread(self._import)
            for broken in self._register(files, problems):
                log.error("tools.broken", source=broken.source, reason=broken.reason)

    def load(self) -> None:
        """Load them for the first time, before an event loop runs."""
        self._register(*self._import())

    def _import(self) -> tuple[list[_File], list[Broken]]:
        """Every file, imported where it is new or changed, and the folders that cannot be read."""
        files, problems = [], []
        for folder in self.folders:
            try:
                paths = files_of(folder)
            except ToolError as error:
                problems.append(Broken(str(folder), str(error)))
                continue
            files += [self._imported(path) for path in paths]
        return files, problems

    def _imported(self, path: Path) -> _File:
        stamp = _stamp(path)
        if self._stamps.get(path) == stamp:
            return _File(path, stamp)
        try:
            return _File(path, stamp, tools_of(module_from(path)))
        except ToolError as error:
            return _File(path, stamp, problem=str(error))

    def _register(self, files: Sequence[_File], problems: Sequence[Broken]) -> list[Broken]:
        """Offer what was imported; what is newly broken."""
        known_problems = set(self.registry.broken)
        unread = {Path(problem.source) for problem in problems}
        paths = {file.path for file in files}
        for path in [path for path in self._stamps if path not in paths and not unread & set(path.parents)]:
            self._drop(path)
        for file in files:
            if self._stamps.get(file.path) != file.stamp:
                self._offer(file)
        for problem in problems:
            self._note(problem.source, problem.reason)
        return [broken for broken in self.registry.broken if broken not in known_problems]

    def _offer(self, file: _File) -> None:
        self._stamps[file.path] = file.stamp
        problem = file.problem
        if not problem:
            try:
                tools = self.registry.replace(self._names.get(file.path, []), file.tools)
                self._names[file.path] = [tool.name for tool in tools]
            except ToolError as error:
                problem = str(error)
        self._note(str(file.path), problem)

    def _drop(self, path: Path) -> None:
        del self._stamps[path]
        try:
            self.registry.replace(self._names.pop(path, []), [])
        except ToolError as error:  # a hook forbids it
            self._note(str(path), str(error))
        else:
            self._note(str(path), "")

    def _note(self, source: str, problem: str) -> None:
        """What is wrong with a file or folder now; empty where nothing is."""
        others = [broken for broken in self.registry.broken if broken.source != source]
        self.registry.broken[:] = [*others, Broken(source, problem)] if problem else others


def _stamp(path: Path) -> Stamp:
    sources = sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]
    stamps = []
    for source in sources:
        try:
            status = source.stat()
        except OSError:  # it went away meanwhile
            continue
        stamps.append((str(source), status.st_mtime_ns, status.st_size))
    return tuple(stamps)
