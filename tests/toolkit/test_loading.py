import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from support.worker_processes import wait_until

from chiron_workers.errors import ToolError, ToolNotFoundError, ToolRegistrationError, ToolTimeoutError
from chiron_workers.toolkit import Registry, Tool, tool

STORE: Any = object()
GREET = '''
from chiron_workers.toolkit import tool

@tool
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}"
'''
COUNT = """
from pydantic import BaseModel
from chiron_workers.toolkit import BaseTool

class Nothing(BaseModel): ...

class Counter(BaseTool):
    name = "count"
    description = "Count the calls."
    input_model = Nothing

    def __init__(self, start: int = 0) -> None:
        self.n = start

    async def execute(self, store, given):
        self.n += 1
        return self.n
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "greeting.py").write_text(GREET)
    (tmp_path / "counting").mkdir()
    (tmp_path / "counting/__init__.py").write_text("from .inside import Nothing\n" + COUNT)
    (tmp_path / "counting/inside.py").write_text("Nothing = None")
    (tmp_path / "_draft.py").write_text("raise SystemExit")
    (tmp_path / "notes.txt").write_text("no tool")
    return tmp_path


async def test_a_folder_of_modules_and_packages_is_loaded(folder: Path):
    registry = Registry()
    assert {one.name for one in registry.load_from_directory(folder)} == {"greet", "count"}
    assert await registry.execute("greet", STORE, {"name": "Ada"}) == "Hello Ada"
    assert [await registry.execute("count", STORE, {}) for _ in range(2)] == [1, 2]
    assert registry.broken == []


def test_an_object_made_in_the_module_stands_for_its_class(folder: Path):
    (folder / "counting/__init__.py").write_text(COUNT + "\ncounter = Counter(start=5)\n")
    registry = Registry()
    registry.load_from_directory(folder)
    assert registry.get("count").n == 5  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import no_such_library", "ModuleNotFoundError: No module named 'no_such_library'"),
        ("def broken(:", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit"),
        (GREET + "\n\n@tool\ndef anything(*args) -> str:\n    'Anything.'\n", "takes any arguments"),
        (COUNT.replace("start: int = 0", "start: int"), "Counter cannot be made"),
        (COUNT + "\n    def __init__(self): raise SystemExit(3)\n", "Counter cannot be made: 3"),
    ],
)
def test_a_broken_module_is_left_out_and_named(folder: Path, text: str, reason: str):
    (folder / "aaa.py").write_text(text)
    registry = Registry()
    assert {one.name for one in registry.load_from_directory(folder)} == {"greet", "count"}
    (broken,) = registry.broken
    assert broken.source == str(folder / "aaa.py")
    assert reason in broken.reason


def test_a_module_whose_name_is_taken_is_left_out_as_a_whole(folder: Path):
    (folder / "zzz.py").write_text(GREET.replace("greet", "wave") + GREET)
    registry = Registry()
    registry.load_from_directory(folder)
    assert "greet is there already" in registry.broken[0].reason
    with pytest.raises(ToolNotFoundError):
        registry.get("wave")


def test_an_importable_module_that_exits_is_an_error_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "exiting_module.py").write_text("import sys; sys.exit(3)")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ToolRegistrationError, match="cannot be imported: SystemExit"):
        Registry().load_from_module("exiting_module")


def test_a_hook_that_objects_after_a_load_leaves_nothing_of_the_module(folder: Path):
    registry = Registry()

    def object_to(_: Tool) -> None:
        raise ToolError("not that one")

    registry.after_load.append(object_to)
    assert registry.load_from_directory(folder) == []
    assert registry.all() == []


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(ToolRegistrationError, match="cannot be read: No such file"):
        Registry().load_from_directory(tmp_path / "nowhere")
    with pytest.raises(
        ToolRegistrationError,
        match="cannot be imported: ModuleNotFoundError: No module named 'no_such_module'",
    ):
        Registry().load_from_module("no_such_module")


@tool
def plain(n: int = 1) -> int:
    """Return a number."""
    return n


@tool
def sleepy() -> None:
    """Sleep."""
    time.sleep(30)


@tool(needs_run=True, timeout_s=0.05)
async def endless() -> None:
    """Never end."""
    await asyncio.sleep(60)


def test_hooks_hear_of_each_tool_and_may_forbid():
    registry, heard = Registry(), list[str]()
    registry.before_load.append(lambda one: heard.append(f"before {one.name}"))
    registry.after_load.append(lambda one: heard.append(f"after {one.name}"))
    registry.before_unload.append(lambda one: heard.append(f"away {one.name}"))
    registry.register(plain)
    registry.register(plain, allow_replace=True)
    registry.unregister("plain")
    loads = ["before plain", "after plain"]
    assert heard == [*loads, "before plain", "away plain", "after plain", "away plain"]

    def refuse(_: Tool) -> None:
        raise ToolError("not today")

    registry.before_load.append(refuse)
    with pytest.raises(ToolError, match="not today"):
        registry.register(plain)
    assert registry.all() == []


def test_a_definition_for_openai_has_the_same_schema():
    registry = Registry()
    (name, schema) = registry.register(plain).name, registry.get("plain").input_schema
    function = {"name": name, "description": "Return a number.", "parameters": schema}
    assert registry.openai_definitions() == [{"type": "function", "function": function}]


async def test_a_call_that_takes_too_long_is_stopped_and_says_so():
    registry = Registry()
    assert registry.register(endless).needs_run
    with pytest.raises(ToolTimeoutError, match=r"endless was stopped after 0\.05 s") as caught:
        await registry.execute("endless", STORE, {}, timeout_s=60)
    assert caught.value.tool == "endless"


async def test_a_plain_function_that_hangs_holds_up_nobody():
    registry = Registry()
    registry.register(sleepy)
    registry.register(plain)
    began = time.monotonic()
    with pytest.raises(ToolTimeoutError):
        await registry.execute("sleepy", STORE, {}, timeout_s=0.1)
    assert [await registry.execute("plain", STORE, {"n": n}) for n in range(50)] == list(range(50))
    assert time.monotonic() - began < 20, "the sleeper was waited for"
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "tool-sleepy")


async def test_calls_that_hang_do_not_become_more_and_more_threads():
    release, begun = threading.Event(), []

    @tool
    def hang() -> None:
        """Hang."""
        begun.append(1)
        release.wait(60)

    registry = Registry()
    registry.register(hang)

    async def stopped() -> None:
        with pytest.raises(ToolTimeoutError):
            await registry.execute("hang", STORE, {}, timeout_s=0.3)

    await asyncio.gather(*(stopped() for _ in range(100)))
    # No more than 64 run, although nobody waits for any of them.
    await asyncio.to_thread(wait_until, lambda: len(begun) == 64)
    await stopped()
    assert len(begun) == 64
    release.set()
    assert await registry.execute("hang", STORE, {}, timeout_s=30) is None
