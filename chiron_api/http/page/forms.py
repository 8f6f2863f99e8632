"""Forms that a page posts: read, bounded, and held to the token of the session."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from http import HTTPStatus
from typing import TypeVar

from pydantic import ValidationError
from starlette.requests import Request

from chiron_api.acts.inputs import Input
from chiron_api.http.csrf import CSRF_FIELD, require_csrf
from chiron_api.http.form_bodies import open_form
from chiron_api.http.problems import Problem, validation_problem

Model = TypeVar("Model", bound=Input)
FORM_BYTES_MAX = 16 * 1024 * 1024


async def read_form(request: Request, *, bytes_max: int = FORM_BYTES_MAX) -> dict[str, str]:
    """The fields of a form; a file counts as its text.

    Args:
        bytes_max: Of all fields and files together, as they come.

    Raises:
        Problem: 400 where it cannot be read, 403 without the token of this session, 408 where it does not go on, 413 where it
            is too large, 415 where it is no form, 422 where a file is no text.
    """
    async with open_form(request, bytes_max=bytes_max) as form:
        fields = {}
        for name, value in form.items():
            fields[name] = value if isinstance(value, str) else _text(await value.read())
    require_csrf(request, fields.pop(CSRF_FIELD, ""))
    return fields


async def read_input(request: Request, model: type[Model]) -> Model:
    """A form as the input of an act. Raises Problem as `read_form` does, and as `as_input`."""
    return as_input(await read_form(request), model)


def as_input(fields: Mapping[str, str], model: type[Model]) -> Model:
    """The fields of a form as the input of an act. Raises Problem 422.

    One that is empty and may be missing is left out, and so is what the browser sends beside the fields, such as the name of
    the button.
    """
    texts = {name: text.strip() for name, text in fields.items()}
    values = {
        name: texts[name]
        for name, field in model.model_fields.items()
        if name in texts and (texts[name] or field.is_required())
    }
    try:
        return model.model_validate(values, context={"is_text": True})
    except ValidationError as error:
        raise validation_problem(error) from None


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Problem(HTTPStatus.UNPROCESSABLE_ENTITY, "The file is no text in UTF-8.") from None


def amount(fields: dict[str, str], name: str) -> Decimal | None:
    """An amount of USD above zero; None where the field is empty. Raises Problem 422."""
    text = fields.get(name, "").strip().removeprefix("$").replace(",", "")
    if not text:
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal(0)
    if not value.is_finite() or value <= 0:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"A budget is an amount of USD above 0, not {text[:40]!r}."
        )
    return value


def count(fields: dict[str, str], name: str) -> int | None:
    """A whole number above zero; None where the field is empty. Raises Problem 422."""
    text = fields.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text)):
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY, f"{name} is a whole number above 0, not {text[:40]!r}."
        )
    return int(text)
