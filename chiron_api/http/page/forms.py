"""Forms of a page: how they are shown, and reading what they post: bounded, and checked for the session's token."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from typing import Any, TypeVar, cast

from markupsafe import Markup
from pydantic import ValidationError
from pydantic_core import PydanticUndefined
from starlette.requests import Request

from chiron_api.acts.inputs import Input
from chiron_api.http.csrf import CSRF_FIELD, require_csrf
from chiron_api.http.form_bodies import open_form
from chiron_api.http.problems import Problem, validation_problem
from chiron_api.text import usd
from chiron_workers.settings import Settings

Model = TypeVar("Model", bound=Input)
FORM_BYTES_MAX = 16 * 1024 * 1024
# A description names the setting that is its default behind a colon.
_DEFAULT = re.compile("(?<=: )CHIRON_([A-Z_]+)")


async def read_form(request: Request, *, bytes_max: int = FORM_BYTES_MAX) -> dict[str, str]:
    """The fields of a form; a file counts as its text, and boxes of one name as a line for each that is ticked.

    Args:
        bytes_max: Of all fields and files together, as they come.

    Raises:
        Problem: 400 where it cannot be read, 403 without the token of this session, 408 where it does not go on, 413 where it
            is too large, 415 where it is no form, 422 where a file is no text.
    """
    async with open_form(request, bytes_max=bytes_max) as form:
        texts: dict[str, list[str]] = {}
        for name, value in form.multi_items():
            texts.setdefault(name, []).append(value if isinstance(value, str) else _text(await value.read()))
    fields = {name: "\n".join(values) for name, values in texts.items()}
    require_csrf(request, fields.pop(CSRF_FIELD, ""))
    return fields


async def read_input(request: Request, model: type[Model]) -> Model:
    """A form as the input of an act. Raises Problem as `read_form` does, and as `as_input`."""
    return as_input(await read_form(request), model)


def as_input(fields: Mapping[str, str], model: type[Model]) -> Model:
    """The fields of a form as the input of an act. Raises Problem 422.

    A list has an entry in each line. One that is empty and may be missing is left out, and so is what the browser sends
    beside the fields, such as the name of the button.
    """
    texts = {name: text.strip() for name, text in fields.items()}
    values = {
        name: texts[name].splitlines() if is_list(model, name) else texts[name]
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


@dataclass(frozen=True, slots=True)
class Form:
    """The input of an act as a form asks for it: names, bounds, choices and defaults are the model's.

    Args:
        texts: What was written into it, if it is shown again.
        settings: Their values stand in hints in place of their names.
    """

    model: type[Input]
    texts: Mapping[str, str] = field(default_factory=dict)
    settings: Settings | None = None

    def text(self, name: str) -> str:
        """What the field holds: what was written, else its default."""
        default = self.model.model_fields[name].default
        return self.texts.get(name, "") or ("" if default in (None, PydanticUndefined) else str(default))

    def hint(self, name: str) -> str:
        """What the field means, in a sentence."""
        words = self.model.model_fields[name].description or ""
        return words if self.settings is None else _DEFAULT.sub(self._value, words)

    def _value(self, match: re.Match[str]) -> str:
        name = match[1].lower()
        value = getattr(self.settings, name)
        if not value:
            return "no limit"
        return usd(value) if name.endswith("_usd") else str(value)

    def choices(self, name: str) -> list[str]:
        """What can be chosen, of a list for each entry; empty where anything can be written."""
        schema, default = schema_of(self.model, name), self.model.model_fields[name].default
        choices = list(schema.get("items", schema).get("enum", ()))
        return ["", *choices] if choices and default is None else choices

    def marks(self, name: str) -> list[str]:
        """The choices that are ticked: what was sent, else the default."""
        default = self.model.model_fields[name].get_default(call_default_factory=True)
        return self.texts[name].splitlines() if name in self.texts else list(map(str, default or ()))

    def chars_max(self, name: str) -> int:
        """How long the text of the field may be."""
        return int(schema_of(self.model, name)["maxLength"])

    def attributes(self, name: str) -> Markup:
        """The attributes of its element, all but the id and the value."""
        schema = schema_of(self.model, name)
        attributes: dict[str, object] = {"name": name}
        if schema["type"] == "integer":
            attributes |= {"type": "number", "min": schema.get("minimum"), "max": schema.get("maximum")}
        elif schema["type"] == "number":
            attributes["inputmode"] = "decimal"
        elif schema.get("format") == "date-time":
            attributes["type"] = "date"
        attributes |= {"maxlength": schema.get("maxLength")}
        pairs = Markup(" ").join(
            Markup('{}="{}"').format(key, value) for key, value in attributes.items() if value is not None
        )
        return pairs + (Markup(" required") if self.model.model_fields[name].is_required() else "")


def is_list(model: type[Input], name: str) -> bool:
    """Whether a field takes several values."""
    return schema_of(model, name).get("type") == "array"


@cache
def schema_of(model: type[Input], name: str) -> dict[str, Any]:
    """What the schema of a model says of a field, without null."""
    document = model.model_json_schema(by_alias=False)
    schema = document["properties"][name]
    while "type" not in schema:
        schema = (
            schema["anyOf"][0] if "anyOf" in schema else document["$defs"][schema["$ref"].rpartition("/")[2]]
        )
    return cast("dict[str, Any]", schema)
