"""Acts and their declarations. A face is a way to call an act: a route, a client method, an MCP tool, a form or a command."""

import inspect
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from http import HTTPStatus
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, get_args, get_origin

from chiron_api.acts.inputs import Input
from chiron_api.acts.operations import Operation
from chiron_api.answers.basics import Answer
from chiron_api.services import Services
from chiron_workers.access import audit
from chiron_workers.knowledge.coverage.subjects import slug
from chiron_workers.states import AccessScope

P = ParamSpec("P")
Options = ParamSpec("Options")
Outcome = TypeVar("Outcome")
Made = TypeVar("Made", bound=Answer)


@dataclass(frozen=True, slots=True)
class Created(Generic[Made]):
    """The answer about a new thing, or about an equal one that existed already: `is_new` is then false."""

    answer: Made
    is_new: bool


@dataclass(frozen=True, slots=True)
class Document(Generic[Made]):
    """An answer in the format that the input names, in pieces. In the format `json` it is the model `Made`.

    Args:
        file_name: The name for saving it; empty if a browser shows it.
    """

    pieces: Iterable[str | bytes] | AsyncIterable[str | bytes]
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    file_name: str = ""


@dataclass(frozen=True, slots=True)
class MadeDocument(Document[Made]):
    """A document rendered in memory. Iterate in a thread if it may be large."""

    pieces: Iterable[str | bytes]


@dataclass(frozen=True, slots=True)
class Target:
    """What an act applies to: the client's parameter name, and the answers that it accepts instead of an id.

    As an annotation it marks an input field that holds such an id.
    """

    name: str
    answers: tuple[type[Answer], ...] = ()


@dataclass(frozen=True, slots=True)
class ToolFace:
    """An act as a tool of MCP.

    Args:
        path_argument: The argument for the id in the path.
        path_words: The description of that argument.
        target: The argument, or the field of the answer, that the audit trail records as the target.
        part: The field of the answer to return; empty: the whole answer. A `note` of the answer then goes with the call.
        words: The description for models, if the one of the act does not suit them.
        next_step: What to call next and how to read the answer; appended to the description.
        names: Argument names that differ from those of the fields, by field.
        reading: Reduces an answer to what a model needs, given the input. Default: the whole answer.
    """

    name: str
    path_argument: str = "id"
    path_words: str = ""
    target: str = ""
    part: str = ""
    words: str = ""
    next_step: str = ""
    names: Mapping[str, str] = field(default_factory=dict)
    reading: Callable[[Any, Any], dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    """The parameters of the function of an act besides `services`, and its result.

    Args:
        path: The parameter for the id in the path; None without one.
        input: The parameter for the body or the query string; None without either.
        takes_key: The function has a parameter `idempotency_key`.
        answer: The model of the answer; None without one.
        may_exist: The function returns `Created`.
        is_document: The function returns `Document`.
    """

    path: inspect.Parameter | None
    input: inspect.Parameter | None
    takes_key: bool
    answer: type[Answer] | None
    may_exist: bool
    is_document: bool


OF_NOUN = Target("")


@dataclass(frozen=True)
class Declaration:
    """What the faces of an act derive from. To add an option, add a field here.

    Args:
        action: The name in the audit trail.
        route: `METHOD /v1/path` of the HTTP API.
        summary: What it does, in a few words.
        client: The method of the client. Acts with the same method name share it; the caller names the target: `run=...`.
        scope: Left out, GET needs `read`, everything else `submit`.
        faces: Pages, handwritten tools and resources that need the same right as the route.
        status: Of a successful response.
        existing_status: Of a response about a thing that existed already.
        location: The header `Location`: a path with fields of the answer, or `{id}` of the route.
        idle: For an act that may find nothing to do: the description of that 200, which has no location. It returns `Created`.
        problems: Error statuses besides those of every act.
        media_types: Of a document, besides JSON.
        changes: It changes something. Default: true for all methods but GET.
        costs_money: It may cause calls of a model or a paid service; the key pays.
        reads_private: It reads what only the server can reach: files of CHIRON_FILES, and addresses that a caller names.
        is_owned: The thing in its path has an owner; others get 404.
        target: What the path names. Default: the target of the noun.
        repeatable: Idempotent, unless the option `again` is set. Acts that read or take an idempotency key are so anyway; with
            both, the client makes a key only for `again`.
        replaces: It ends or overwrites something for good, and is idempotent.
        shows_secret: The answer has a secret, so no cache may store it.
        tool: The act as a tool of MCP.
        tool_target: Of a handwritten tool, as `ToolFace.target`.
    """

    noun: "Noun"
    action: str
    route: str
    summary: str
    _: KW_ONLY
    client: str
    scope: AccessScope | None = None
    faces: tuple[str, ...] = ()
    status: HTTPStatus = HTTPStatus.OK
    existing_status: HTTPStatus = HTTPStatus.OK
    location: str = ""
    idle: str = ""
    problems: tuple[HTTPStatus, ...] = ()
    media_types: tuple[str, ...] = ()
    changes: bool | None = None
    costs_money: bool = False
    reads_private: bool = False
    is_owned: bool = False
    target: Target = OF_NOUN
    repeatable: bool = False
    replaces: bool = False
    shows_secret: bool = False
    tool: ToolFace | None = None
    tool_target: str = ""

    def __post_init__(self) -> None:
        if self.target is OF_NOUN:
            object.__setattr__(self, "target", self.noun.target)

    @property
    def heading(self) -> str:
        """The tag in the OpenAPI document."""
        return self.noun.heading


@dataclass(frozen=True)
class Act(Declaration, Generic[P, Outcome]):
    """An act. The gate of each server checks the scope and writes the audit entry."""

    function: Callable[Concatenate[Services, P], Awaitable[Outcome]] = field(kw_only=True)

    async def __call__(self, services: Services, *args: P.args, **options: P.kwargs) -> Outcome:
        """Run it on behalf of the principal of the services."""
        return await self.function(services, *args, **options)

    async def command(self, services: Services, *args: P.args, **options: P.kwargs) -> Outcome:
        """Run it for the local user, and write its entry in the audit trail."""
        if not self.operation.is_recorded:
            return await self(services, *args, **options)
        values = self._signature.bind(services, *args, **options).arguments
        path, body = self.arguments.path, self.arguments.input
        target = values[path.name] if path else ""
        if isinstance(target, str) and self.target.name == "subject":
            target = slug(target)
        flags = _flags(values[body.name]) if body and body.name in values else {}
        async with audit.command(services.pool, self.operation.name, target, flags) as trail:
            outcome = await self(services, *args, **options)
            answer: object = outcome.answer if isinstance(outcome, Created) else outcome
            if name := self.operation.target:
                trail[name] = getattr(answer, name, "")
            return outcome

    @cached_property
    def operation(self) -> Operation:
        """Its row in the table of `chiron_api.rights`."""
        is_change = not self.route.startswith("GET ") if self.changes is None else self.changes
        asks_again = self.input_model is not None and "again" in self.input_model.model_fields
        return Operation(
            self.action,
            self.scope or (AccessScope.SUBMIT if is_change else AccessScope.READ),
            (self.route, *self.faces, *([f"mcp {self.tool.name}"] if self.tool else [])),
            changes=is_change,
            costs_money=self.costs_money,
            reads_private=self.reads_private,
            is_owned=self.is_owned,
            target=self.tool.target if self.tool else self.tool_target,
            is_repeatable=self.replaces or (self.repeatable and not asks_again),
            replaces=self.replaces,
            reaches_out=is_change and self.costs_money,
        )

    @property
    def name(self) -> str:
        """The name of the function, which is the `operationId`."""
        return self.function.__name__

    @property
    def description(self) -> str:
        """The docstring of the function."""
        return inspect.getdoc(self.function) or ""

    @cached_property
    def arguments(self) -> Arguments:
        """What the type hints of the function say."""
        signature = self._signature
        _, *parameters = signature.parameters.values()
        inputs = [parameter for parameter in parameters if _is_input(parameter.annotation)]
        paths = [
            parameter
            for parameter in parameters
            if f"{{{parameter.name}}}" in self.route and parameter not in inputs
        ]
        answer = signature.return_annotation
        if (kind := get_origin(answer)) in (Created, Document):
            (answer,) = get_args(answer)
        if self.status is HTTPStatus.NO_CONTENT:
            answer = None
        return Arguments(
            paths[0] if paths else None,
            inputs[0] if inputs else None,
            "idempotency_key" in signature.parameters,
            answer,
            may_exist=kind is Created,
            is_document=kind is Document,
        )

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.function, eval_str=True)

    @cached_property
    def input_model(self) -> type[Input] | None:
        """The model of the body or of the query string."""
        parameter = self.arguments.input
        return parameter.annotation if parameter else None


class Declare(Protocol):
    """A decorator that makes an act of a function."""

    def __call__(
        self, function: Callable[Concatenate[Services, P], Awaitable[Outcome]], /
    ) -> Act[P, Outcome]:
        """Wrap the function in its declaration."""


def _declaring(declaration: Callable[Options, Declaration]) -> Callable[Options, Declare]:
    """Make a decorator factory with the parameters of a declaration, so that type checkers know them."""

    def act(*args: Options.args, **options: Options.kwargs) -> Declare:
        fields = vars(declaration(*args, **options))

        def declare(function: Callable[Concatenate[Services, P], Awaitable[Outcome]]) -> Act[P, Outcome]:
            return Act(function=function, **fields)

        return declare

    return act


@dataclass(frozen=True)
class Noun:
    """A group of acts: its heading in the documents, and what their paths name."""

    heading: str
    target: Target = OF_NOUN

    act = _declaring(Declaration)  # a method: declare an act of this noun


def _flags(body: Input) -> dict[str, bool]:
    """The flags that are set; the audit trail records them beside the target."""
    return {name: value for name, value in body if value is True}


def _is_input(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Input)
