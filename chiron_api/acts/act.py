"""An act and what its declaration says: the input, the answer, and all that its faces need to know."""

import inspect
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
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

    def text(self) -> str:
        """All of it, of a format that is text and comes from memory; a long one is made in a thread."""
        assert isinstance(self.pieces, Iterable)
        return "".join(map(str, self.pieces))


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
    """

    name: str
    path_argument: str = "id"
    path_words: str = ""
    target: str = ""
    part: str = ""


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


@dataclass(frozen=True)
class Act(Generic[P, Outcome]):
    """Something that can be done, declared once. Called, it is done; whoever calls it has seen to scope and audit trail.

    Args:
        route: `METHOD /v1/path` of the HTTP API.
        heading: Under which the OpenAPI document has it.
        summary: What it does, in a few words.
        status: Of an answer that is good.
        existing_status: Of an answer about what was there already.
        location: Where the thing is that the answer is about: a path with fields of the answer, or `{id}` of the route.
        idle: Of one that may find nothing to do: what 200 says then, which has no location. It returns `Created` as well.
        problems: The refusals that it has beside those of every act.
        media_types: Of a document beside JSON.
        client: The method of the client; those of several acts with one name are one, which is told the target by name.
        target: What the path names.
        repeatable: Sending it again does nothing a second time, unless an option `again` asks for that. One that takes an
            idempotency key is; so is what only reads. If it is both, the client makes a key only for `again`.
        shows_secret: The answer has a secret, so nothing between server and client may store it.
    """

    function: Callable[Concatenate[Services, P], Awaitable[Outcome]]
    operation: Operation
    route: str
    heading: str
    summary: str
    status: HTTPStatus
    existing_status: HTTPStatus
    location: str
    idle: str
    problems: tuple[HTTPStatus, ...]
    media_types: tuple[str, ...]
    client: str
    target: Target
    repeatable: bool
    shows_secret: bool
    tool: ToolFace | None

    async def __call__(self, services: Services, *args: P.args, **options: P.kwargs) -> Outcome:
        """Do it on behalf of the services' principal."""
        return await self.function(services, *args, **options)

    async def command(self, services: Services, *args: P.args, **options: P.kwargs) -> Outcome:
        """Do it as a command of the user of this machine, with its entry in the audit trail."""
        if not self.operation.is_recorded:
            return await self(services, *args, **options)
        target = args[0] if args and self.arguments.path else ""
        if isinstance(target, str) and self.target.name == "subject":
            target = slug(target)
        async with audit.command(services.pool, self.operation.name, target, _flags(args)) as trail:
            outcome = await self(services, *args, **options)
            answer: object = outcome.answer if isinstance(outcome, Created) else outcome
            if name := self.operation.target:
                trail[name] = getattr(answer, name, "")
            return outcome

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
        signature = inspect.signature(self.function, eval_str=True)
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
    def input_model(self) -> type[Input] | None:
        """The model of the body or of the query string."""
        parameter = self.arguments.input
        return parameter.annotation if parameter else None


@dataclass(frozen=True)
class Noun:
    """What acts are about: the heading that they stand under, and what their paths name."""

    heading: str
    target: Target = field(default_factory=lambda: Target(""))

    def act(  # noqa: PLR0913  # a declaration says all that faces need
        self,
        name: str,
        route: str,
        summary: str,
        *,
        client: str,
        scope: AccessScope | None = None,
        faces: tuple[str, ...] = (),
        status: HTTPStatus = HTTPStatus.OK,
        existing_status: HTTPStatus = HTTPStatus.OK,
        location: str = "",
        idle: str = "",
        problems: tuple[HTTPStatus, ...] = (),
        media_types: tuple[str, ...] = (),
        changes: bool | None = None,
        costs_money: bool = False,
        reads_private: bool = False,
        is_owned: bool = False,
        target: Target | None = None,
        repeatable: bool = False,
        shows_secret: bool = False,
        tool: ToolFace | None = None,
        tool_target: str = "",
    ) -> "Declare":
        """Declare an act; `Act` and `Operation` say what each argument means.

        Args:
            scope: Left out, GET needs `read`, everything else `submit`.
            faces: Others than the route that the same right is for: of the page, handwritten tools and resources.
            tool_target: Of a handwritten tool, as `ToolFace` has it.
            changes: Left out, everything but GET does.
        """
        is_change = not route.startswith("GET ") if changes is None else changes
        operation = Operation(
            name,
            scope or (AccessScope.SUBMIT if is_change else AccessScope.READ),
            (route, *faces, *([f"mcp {tool.name}"] if tool else [])),
            is_change,
            costs_money,
            reads_private,
            is_owned,
            tool.target if tool else tool_target,
        )

        def declare(function: Callable[Concatenate[Services, P], Awaitable[Outcome]]) -> Act[P, Outcome]:
            return Act(
                function,
                operation,
                route,
                self.heading,
                summary,
                status,
                existing_status,
                location,
                idle,
                problems,
                media_types,
                client,
                target or self.target,
                repeatable,
                shows_secret,
                tool,
            )

        return declare


class Declare(Protocol):
    """Makes an act of a function."""

    def __call__(
        self, function: Callable[Concatenate[Services, P], Awaitable[Outcome]], /
    ) -> Act[P, Outcome]:
        """The act that the function does."""


def _flags(args: tuple[object, ...]) -> dict[str, bool]:
    """The options that are no more than said, which the audit trail has beside the target."""
    inputs = [model for model in args if isinstance(model, Input)]
    return {name: value for model in inputs for name, value in model if value is True}


def _is_input(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Input)
