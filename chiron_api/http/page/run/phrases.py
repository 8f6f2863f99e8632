"""What a call of a tool asks for, in words, and the address that it reads if it reads one."""

from collections.abc import Callable, Mapping
from typing import Any

from chiron_api.http.page.filters import host
from chiron_api.text import count


def _phrase_search(arguments: Mapping[str, Any]) -> tuple[str, str]:
    return f"searched “{arguments.get('query', '')}”", ""


def _phrase_memory(arguments: Mapping[str, Any]) -> tuple[str, str]:
    return f"looked up what is known on “{arguments.get('query', '')}”", ""


def _phrase_page(arguments: Mapping[str, Any]) -> tuple[str, str]:
    address = str(arguments.get("url", ""))
    return f"read {host(address)}", address


def _phrase_store(arguments: Mapping[str, Any]) -> tuple[str, str]:
    return f"stores “{arguments.get('content', '')}”", ""


def _phrase_rows(arguments: Mapping[str, Any]) -> tuple[str, str]:
    rows = arguments.get("rows")
    return f"hands in {count(len(rows), 'row')}" if isinstance(rows, list) else "hands in rows", ""


def phrase_other(arguments: Mapping[str, Any]) -> tuple[str, str]:
    """The words of any other tool: its arguments."""
    return ", ".join(f"{name} = {value}" for name, value in arguments.items()), ""


PHRASES: Mapping[str, Callable[[Mapping[str, Any]], tuple[str, str]]] = {
    "web_search": _phrase_search,
    "vector_search": _phrase_memory,
    "knowledge_base": _phrase_memory,
    "web_fetch": _phrase_page,
    "store_knowledge": _phrase_store,
    "hand_in_rows": _phrase_rows,
}
