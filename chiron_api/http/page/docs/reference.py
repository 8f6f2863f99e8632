"""The OpenAPI document as rows that a template shows: operations by their headings, models with their fields."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TYPES = {
    "object": "object",
    "array": "list",
    "string": "text",
    "integer": "whole number",
    "boolean": "true or false",
}
BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "minLength": "{} characters or more",
    "maxLength": "at most {} characters",
    "minItems": "{} entries or more",
    "maxItems": "at most {} entries",
}

TRAITS = {
    "x-changes": "changes something",
    "x-costs-money": "may cost money",
    "x-reads-private": "reads what only this machine can",
}


@dataclass(frozen=True, slots=True)
class Word:
    """A part of a type; `model` is the model that it names, if it names one."""

    text: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A parameter or a field; `default` is empty where there is none."""

    name: str
    place: str
    words: tuple[Word, ...]
    is_required: bool
    default: str
    description: str


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer by its status, with the model or the media types of its body."""

    status: str
    description: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """A method of a path; `scope` is what a key must be for, empty where none is needed, and `traits` what to mind."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    scope: str
    traits: tuple[str, ...]
    rows: tuple[Row, ...]
    body: tuple[Word, ...]
    replies: tuple[Reply, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """The operations under one heading."""

    name: str
    description: str
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A named shape of JSON; `words` say what it is where it is no object with fields."""

    name: str
    description: str
    rows: tuple[Row, ...]
    words: tuple[Word, ...]


def chapters(api: Mapping[str, Any]) -> list[Chapter]:
    """The operations of the document in the order of its headings."""
    operations = [
        (details["tags"][0], _operation(path, method, details))
        for path, methods in api["paths"].items()
        for method, details in methods.items()
    ]
    return [
        Chapter(
            tag["name"],
            tag["description"],
            tuple(operation for name, operation in operations if name == tag["name"]),
        )
        for tag in api["tags"]
    ]


def common_replies(chapters: Sequence[Chapter]) -> tuple[Reply, ...]:
    """The problems of every operation that needs a key, which one table shows for all."""
    operations = [operation for chapter in chapters for operation in chapter.operations if operation.scope]
    shared = set.intersection(*({reply.status for reply in operation.replies} for operation in operations))
    return tuple(reply for reply in operations[0].replies if reply.status in shared)


def models(api: Mapping[str, Any]) -> list[Model]:
    """The models of the document, by name."""
    return [_model(name, schema) for name, schema in sorted(api["components"]["schemas"].items())]


def spans(text: str) -> Iterator[tuple[bool, str]]:
    """A text in parts, and whether each is code, which stands between backticks."""
    for n, part in enumerate(text.split("`")):
        if part:
            yield n % 2 == 1, part


def _operation(path: str, method: str, details: Mapping[str, Any]) -> Operation:
    content = details.get("requestBody", {}).get("content", {})
    return Operation(
        id=details["operationId"],
        method=method.upper(),
        path=path,
        summary=details["summary"],
        description=details["description"],
        scope=details.get("x-required-scope", ""),
        traits=tuple(words for name, words in TRAITS.items() if details.get(name)),
        rows=tuple(
            _row(field["name"], field["schema"], place=field["in"], is_required=field.get("required", False))
            for field in details.get("parameters", ())
        ),
        body=_content_words(content),
        replies=tuple(
            Reply(status, reply["description"], _content_words(reply.get("content", {})))
            for status, reply in details["responses"].items()
        ),
    )


def _model(name: str, schema: Mapping[str, Any]) -> Model:
    fields, required = schema.get("properties", {}), schema.get("required", ())
    return Model(
        name,
        schema.get("description", ""),
        tuple(_row(field, details, is_required=field in required) for field, details in fields.items()),
        () if fields else tuple(_words(schema)),
    )


def _row(name: str, schema: Mapping[str, Any], *, is_required: bool, place: str = "") -> Row:
    default = schema.get("default")
    shown = (
        ""
        if default is None or default == ""
        else str(default).lower()
        if isinstance(default, bool)
        else str(default)
    )
    return Row(name, place, tuple(_words(schema)), is_required, shown, schema.get("description", ""))


def _content_words(content: Mapping[str, Any]) -> tuple[Word, ...]:
    words: list[Word] = []
    for media_type, details in content.items():
        schema = details.get("schema", {})
        is_named = media_type in ("application/json", "application/problem+json")
        parts = list(_words(schema)) if is_named else [Word(media_type), *_item_words(schema)]
        words += ([Word(", ")] if words else []) + parts
    return tuple(words)


def _item_words(schema: Mapping[str, Any]) -> Iterator[Word]:
    """Of a stream: what its lines or events are."""
    if items := schema.get("contentSchema", {}).get("items"):
        yield Word(" of ")
        yield from _words(items)


def _words(schema: Mapping[str, Any]) -> Iterator[Word]:
    choices = schema.get("anyOf") or schema.get("oneOf")
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        yield Word(name, name)
    elif choices:
        for n, choice in enumerate(choices):
            if n:
                yield Word(" or ")
            yield from _words(choice)
    elif "enum" in schema or "const" in schema:
        yield Word(" | ".join(str(value) for value in schema.get("enum", [schema.get("const")])))
    elif schema.get("type") == "array":
        yield Word("list of ")
        yield from _words(schema.get("items", {}))
    elif isinstance(schema.get("additionalProperties"), Mapping):
        yield Word("object, each value ")
        yield from _words(schema["additionalProperties"])
    else:
        yield Word(_plain(schema))


def _plain(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type", "anything")
    name = {"uuid": "id", "date-time": "time"}.get(schema.get("format", ""), TYPES.get(kind, kind))
    bounds = [words.format(f"{schema[bound]:,}") for bound, words in BOUNDS.items() if bound in schema]
    return ", ".join([name, *bounds])
