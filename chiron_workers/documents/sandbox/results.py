"""How the result of a job comes back: a byte that says whether it failed, then JSON or the reason."""

from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter

SUCCESS, FAILURE = b"+", b"-"
RESULT_BYTES_MAX = 20_000_000  # a text of 2,000,000 characters of four bytes, and what JSON adds


@cache
def result_adapter(function: Callable[..., Any]) -> TypeAdapter[Any]:
    """Serialize and validate a job's result as JSON, by the return annotation of its function."""
    return TypeAdapter(get_type_hints(function)["return"])
