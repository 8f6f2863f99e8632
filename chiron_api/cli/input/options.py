"""The options of a command as the input of an act."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from pydantic import ValidationError

from chiron_api.acts.inputs import Input
from chiron_workers.errors import UsageError

P = ParamSpec("P")
Model = TypeVar("Model", bound=Input)


def options(model: Callable[P, Model], /, *args: P.args, **values: P.kwargs) -> Model:
    """The input with these values. Raises UsageError that names the options which cannot be used."""
    try:
        return model(*args, **values)
    except ValidationError as error:
        raise UsageError("; ".join(_sentences(error))) from None


def _sentences(error: ValidationError) -> list[str]:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    return [f"--{str(problem['loc'][0]).replace('_', '-')}: {problem['msg']}" for problem in problems]
