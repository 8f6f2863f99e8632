import threading
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from chiron_workers.errors import (
    LeaseLost,
    ToolError,
    ToolExecutionError,
    ToolNotFoundError,
    ToolRegistrationError,
    ToolValidationError,
)
from chiron_workers.toolkit import Registry, tool

STORE: object = object()


@dataclass(frozen=True, slots=True)
class Found:
    id: UUID
    score: float


@tool
async def search_facts(store: object, *, query: str, limit: int = 2) -> list[Found]:
    """Search."""
    assert store is STORE
    return [Found(UUID(int=0), float("nan"))] * limit


@tool
def thread_name(store: object) -> str:
    """Name the thread."""
    return threading.current_thread().name


@tool
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture
def registry() -> Registry:
    found = Registry()
    for function in (thread_name, search_facts, add):
        found.register(function)
    return found


def test_definitions_come_sorted_by_name(registry):
    assert [one["name"] for one in registry.definitions()] == ["add", "search_facts", "thread_name"]
    assert [one.name for one in registry.all()] == ["add", "search_facts", "thread_name"]


def test_a_name_is_taken_once(registry):
    with pytest.raises(ToolRegistrationError, match="add"):
        registry.register(add)
    assert registry.register(add, allow_replace=True).name == "add"


def test_an_unregistered_tool_is_gone(registry):
    registry.unregister("add")
    with pytest.raises(ToolNotFoundError):
        registry.get("add")
    with pytest.raises(ToolNotFoundError):
        registry.unregister("add")


def test_an_unknown_name_is_answered_with_the_nearest(registry):
    with pytest.raises(ToolNotFoundError, match="Did you mean search_facts") as caught:
        registry.get("serch_facts")
    assert caught.value.tool == "serch_facts"


async def test_a_tool_runs_with_the_store_and_returns_json(registry):
    found = await registry.execute("search_facts", STORE, {"query": "q", "limit": "1"})
    assert found == [{"id": str(UUID(int=0)), "score": None}]


async def test_a_plain_function_runs_in_a_thread(registry):
    assert await registry.execute("thread_name", STORE, {}) != threading.main_thread().name


async def test_a_function_without_a_store_is_called_without_one(registry):
    assert await registry.execute("add", STORE, {"a": "1,000"}) == 1001


async def test_a_wrong_argument_names_tool_and_field(registry):
    with pytest.raises(ToolValidationError) as caught:
        await registry.execute("add", STORE, {"b": 1})
    assert (caught.value.tool, caught.value.field) == ("add", "a")


async def test_a_failure_inside_a_tool_becomes_an_execution_error_with_its_cause():
    @tool
    async def fail(store: object) -> None:
        """Fail."""
        raise KeyError("gone")

    @tool
    def exhaust(store: object) -> int:
        """Take from nothing."""
        return next(iter([]))

    @tool
    def opaque(store: object) -> object:
        """Return what JSON cannot carry."""
        return object()

    @tool
    async def leave(store: object) -> None:
        """End the process."""
        raise SystemExit(3)

    registry = Registry()
    for function in (fail, exhaust, opaque, leave):
        registry.register(function)
        with pytest.raises(ToolExecutionError, match="failed: ") as caught:
            await registry.execute(function.__name__, STORE, {})
        assert caught.value.tool == function.__name__
        assert caught.value.__cause__ is not None


async def test_tool_errors_and_a_lost_lease_pass_through():
    @tool
    async def refuse(store: object) -> None:
        """Refuse."""
        raise ToolError("The subject has no goal.")

    @tool
    async def lose(store: object) -> None:
        """Lose the lease."""
        raise LeaseLost(uuid4())

    registry = Registry()
    registry.register(refuse)
    registry.register(lose)
    with pytest.raises(ToolError, match=r"^The subject has no goal\.$") as caught:
        await registry.execute("refuse", STORE, {})
    assert caught.value.tool == "refuse"
    with pytest.raises(LeaseLost):
        await registry.execute("lose", STORE, {})


def test_a_package_is_loaded_module_by_module_and_imported_tools_count_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    package = tmp_path / "shelf_of_tools"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "one.py").write_text(
        "from chiron_workers.toolkit import tool\n\n"
        "@tool\ndef first(n: int) -> int:\n    'First.'\n    return n\n"
    )
    (package / "two.py").write_text(
        "from chiron_workers.toolkit import tool\nfrom shelf_of_tools.one import first\n\n"
        "@tool\ndef second(n: int) -> int:\n    'Second.'\n    return first(n)\n\ndef helper() -> None: ...\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    registry = Registry()
    assert [one.name for one in registry.load_from_module("shelf_of_tools")] == ["first", "second"]
    registry = Registry()
    assert [one.name for one in registry.load_from_module("shelf_of_tools.one")] == ["first"]
