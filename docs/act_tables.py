"""The tables of acts and their answers in docs/http.md and docs/client.md."""

from collections import defaultdict
from collections.abc import Iterator
from enum import Enum
from typing import Any, get_args

from client_methods import document_formats, methods
from pydantic.fields import FieldInfo

from chiron_api.acts.act import Act
from chiron_api.acts.discovery import all_acts
from chiron_api.answers.basics import Answer
from chiron_api.client.act_methods import ActMethods
from chiron_api.client.methods import Methods
from chiron_api.http.document import TAGS
from chiron_workers.states import AccessScope

MEMBERS_MAX = 6  # of an answer that the table names


def requests() -> str:
    """The requests of all acts, a table for each heading."""
    by_client: dict[str, list[Act[..., Any]]] = defaultdict(list)
    for act in all_acts():
        by_client[act.client].append(act)
    tables: dict[str, list[str]] = defaultdict(list)
    for acts in by_client.values():
        tables[acts[0].heading].append(_request(acts))
    return "\n".join(
        f"### {heading}\n\n{TAGS[heading]}\n\n| request | | takes | answers |\n|---|---|---|---|\n{''.join(tables[heading])}"
        for heading in TAGS
        if heading in tables
    )


def answers() -> str:
    """The models of answers and of their items."""
    given = {answer for act in all_acts() if (answer := act.arguments.answer)}
    models = {
        model for answer in given for model in (answer, _item(answer)) if model and not _is_plain_list(model)
    }
    rows = [f"| `{model.__name__}` | {cell(model.__doc__ or '')} |\n" for model in models]
    return f"| answer | |\n|---|---|\n{''.join(sorted(rows))}"


def client_methods() -> str:
    """The methods of the client by heading, and those without an act."""
    rows: dict[str, list[str]] = defaultdict(list)
    for method in methods():
        formats = (
            f" ({', '.join(f'`{name}`' for name in document_formats(method))})" if method.is_document else ""
        )
        rows[method.act.heading].append(f"`{method.name}`{formats}")
    besides = sorted(
        name for name in vars(Methods) if not name.startswith("_") and name not in vars(ActMethods)
    )
    lines = [f"| {heading} | {', '.join(rows[heading])} |\n" for heading in TAGS if heading in rows]
    others = ", ".join(f"`{name}`" for name in besides)
    return f"| | |\n|---|---|\n{''.join(lines)}| Streams, waiting, files, tools, health | {others} |\n"


def cell(text: str) -> str:
    """Text in a line of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _request(acts: list[Act[..., Any]]) -> str:
    """The row of an act, or of several that differ only in their target."""
    act = acts[0]
    scope = " Needs the scope `admin`." if act.operation.scope is AccessScope.ADMIN else ""
    verb, _, first = act.route.partition(" ")
    places = [f"`{verb} {first}`", *(f"`{other.route.partition(' ')[2]}`" for other in acts[1:])]
    return f"| {', '.join(places)} | {cell(act.description)}{scope} | {'; '.join(_options(act))} | {_outcomes(act)} |\n"


def _options(act: Act[..., Any]) -> Iterator[str]:
    """The options of an act: required ones first, each with its choices or its default."""
    fields = act.input_model.model_fields if act.input_model else {}
    for is_required, head in ((True, ""), (False, "optional: ")):
        options = [
            f"`{field.alias or name}`{_words(field)}"
            for name, field in fields.items()
            if field.is_required() is is_required
        ]
        if options:
            yield f"{head}{', '.join(options)}"


def _words(field: FieldInfo) -> str:
    """The choices of an option, its default first; without choices its default."""
    default = field.get_default(call_default_factory=True)
    kinds = [kind for kind in (field.annotation, *get_args(field.annotation)) if isinstance(kind, type)]
    words = [str(word) for kind in kinds if issubclass(kind, Enum) for word in kind]
    words.sort(key=lambda word: word != default)
    if not words and isinstance(default, str | int | float) and default:
        words = [str(default)]
    return f" ({', '.join(words)})" if words else ""


def _outcomes(act: Act[..., Any]) -> str:
    """The statuses of an act with its answer."""
    located = ", `Location`" if act.location else ""
    good = f"{act.status.value}{_answer(act.arguments.answer)}{located}"
    if act.arguments.may_exist and act.existing_status is not act.status:
        good += f"; {act.existing_status.value}: {cell(act.idle or 'The one that is there already.')[:-1]}"
    problems = ", ".join(str(status.value) for status in act.problems)
    return f"{good}; {problems}" if problems else good


def _answer(model: type[Answer] | None) -> str:
    if model is None:
        return ""
    members = f" `{{{', '.join(model.model_fields)}}}`" if len(model.model_fields) <= MEMBERS_MAX else ""
    item = _item(model)
    return f"{members} of `{item.__name__}`" if item else f" `{model.__name__}`{members}"


def _is_plain_list(model: type[Answer]) -> bool:
    return "items" in model.model_fields and model.model_fields.keys() <= {"items", "next"}


def _item(model: type[Answer]) -> type[Answer] | None:
    """The model of the items of a list; None for other answers."""
    if "items" not in model.model_fields:
        return None
    (item,) = get_args(model.model_fields["items"].annotation)
    return item  # type: ignore[no-any-return]
