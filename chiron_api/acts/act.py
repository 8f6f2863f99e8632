"""An act and what its declaration says: the input, the answer, and all that its faces need to know."""

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
    """What an act has made, or what was there already and equals it: `is_new` is false then."""

    answer: Made
    is_new: bool


@dataclass(frozen=True, slots=True)
class Document(Generic[Made]):
    """An answer in the format that the input names, piece by piece; the format `json` reads as the model.

    Args:
        file_name: What it is saved as; empty where it is shown.
    """

    pieces: Iterable[str | bytes] | AsyncIterable[str | bytes]
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    file_name: str = ""


@dataclass(frozen=True, slots=True)
class MadeDocument(Document[Made]):
    """A document whose pieces are made in memory. Where they are long, go through them in a thread."""

    pieces: Iterable[str | bytes]


@dataclass(frozen=True, slots=True)
class Target:
    """What an act is done to, as the client takes it: the parameter's name, and the answers that stand for an id.

    It stands beside the type of a field, too, that names something by its id.
    """

    name: str
    answers: tuple[type[Answer], ...] = ()


@dataclass(frozen=True, slots=True)
class ToolFace:
    """An act as a tool of MCP.

    Args:
        path_argument: The argument that stands for what the path names, and what it is in words.
        target: The argument, or the member of the answer, that the audit trail has as what it was done to.
        part: The member of the answer that the tool gives; empty: all of it. A `note` of the answer is then one of the call.
        words: What its model reads instead of the description of the act, where another reader needs other words.
        next_step: What to call afterwards, and how to read the answer; it follows the description.
        names: Other names for arguments, by field.
        reading: What a model needs of the answer to this input; left out, all of it.
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
    """What a function of an act takes beside the services, and what it gives.

    Args:
        path: The name and the type of what stands in the path; None where nothing does.
        input: The parameter that takes a body or a query string; None where there is neither.
        takes_key: It has a parameter `idempotency_key`.
        answer: The model of the answer; None where there is none.
        may_exist: The answer may be of what was there already.
        is_document: The answer is a document, in the format that the input names.
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
    """What all faces of an act need to know. An option is a field here, and nothing else.

    Args:
        action: The name in the audit trail.
        route: `METHOD /v1/path` of the HTTP API.
        summary: What it does, in a few words.
        client: The method of the client. Acts with the same name share a method, which takes the target by name.
        scope: Left out, GET needs `read`, everything else `submit`.
        faces: Others than the route that the same right is for: of the page, handwritten tools and resources.
        status: Of an answer that is good.
        existing_status: Of an answer about what was there already.
        location: Where the thing is that the answer is about: a path with fields of the answer, or `{id}` of the route.
        idle: Of one that may find nothing to do: what 200 says then, which has no location. It returns `Created` as well.
        problems: The refusals that it has beside those of every act.
        media_types: Of a document beside JSON.
        changes: Something is different afterwards. Left out, everything but GET changes something.
        costs_money: It may have a model or a paid service called; the key pays.
        reads_private: It reads what only the serving machine can: files of CHIRON_FILES, and addresses that a caller names.
        is_owned: What its path names has an owner, and is not there for others.
        target: What the path names; left out, what the noun says.
        repeatable: Sending it again does nothing a second time, unless an option `again` asks for that. One that takes an
            idempotency key is; so is what only reads. If it is both, the client makes a key only for `again`.
        replaces: It ends or overwrites something for good, and doing it again changes nothing more.
        shows_secret: The answer has a secret, so nothing between server and client may store it.
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
        """Under which the OpenAPI document has it."""
        return self.noun.heading


@dataclass(frozen=True)
class Act(Declaration, Generic[P, Outcome]):
    """Something that can be done, declared once. A caller checks the scope and writes the audit entry."""

    function: Callable[Concatenate[Services, P], Awaitable[Outcome]] = field(kw_only=True)

    async def __call__(self, services: Services, *args: P.args, **options: P.kwargs) -> Outcome:
        """Do it on behalf of the services' principal."""
        return await self.function(services, *args, **options)

    async def command(self, services: Services, *args: P.args, **options: P.kwargs) -> Outcome:
        """Do it as a command of the user of this machine, with its entry in the audit trail."""
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
        """What it is to the gate and the audit trail."""
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
        """What it does, in full."""
        return inspect.getdoc(self.function) or ""

    @cached_property
    def arguments(self) -> Arguments:
        """What the function takes and gives, as its hints say."""
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
    """Makes an act of a function."""

    def __call__(
        self, function: Callable[Concatenate[Services, P], Awaitable[Outcome]], /
    ) -> Act[P, Outcome]:
        """The act that the function does."""


def _declaring(declaration: Callable[Options, Declaration]) -> Callable[Options, Declare]:
    """A function with the parameters of a declaration."""

    def act(*args: Options.args, **options: Options.kwargs) -> Declare:
        fields = vars(declaration(*args, **options))

        def declare(function: Callable[Concatenate[Services, P], Awaitable[Outcome]]) -> Act[P, Outcome]:
            return Act(function=function, **fields)

        return declare

    return act


@dataclass(frozen=True)
class Noun:
    """What acts are about: the heading that they stand under, and what their paths name."""

    heading: str
    target: Target = OF_NOUN

    act = _declaring(Declaration)  # a method: declare an act of this noun


def _flags(body: Input) -> dict[str, bool]:
    """The options that are no more than said, which the audit trail has beside the target."""
    return {name: value for name, value in body if value is True}


def _is_input(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Input)
