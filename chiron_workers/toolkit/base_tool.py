import inspect
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from chiron_workers.errors import ToolExecutionError, ToolRegistrationError, ToolValidationError
from chiron_workers.toolkit.arguments import validated
from chiron_workers.toolkit.schema import Parameter, input_schema, parameter
from chiron_workers.toolkit.tool import Tool, require_name

if TYPE_CHECKING:
    from chiron_workers.store import Store


class BaseTool(Tool):
    """A tool with state: a class with a name, a description, Pydantic models of what goes in and out, and `execute`.

        class Thermometer(BaseTool):
            name = "read_thermometer"
            description = "Read the temperature of a room."
            input_model = Room
            output_model = Reading

            async def execute(self, store: Store, given: Room) -> Reading: ...

    Without an `output_model` anything that JSON can hold may be returned.

    Raises:
        ToolRegistrationError: At the class statement, where one of these is missing or cannot be described.
    """

    input_model: ClassVar[type[BaseModel]]
    output_model: ClassVar[type[BaseModel] | None] = None
    _parameters: ClassVar[tuple[Parameter, ...]]

    @abstractmethod
    async def execute(self, store: "Store", given: Any) -> Any:
        """What the tool does with arguments that fit its `input_model`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "execute" not in vars(cls) and getattr(cls.execute, "__isabstractmethod__", False):
            return  # a class for others to build on
        for attribute, what in (("name", str), ("description", str), ("input_model", type)):
            if not isinstance(getattr(cls, attribute, None), what):
                raise ToolRegistrationError(f"{cls.__name__} has no {attribute}.", tool=cls.__name__)
        require_name(cls.name)
        if not inspect.iscoroutinefunction(cls.execute):
            raise ToolRegistrationError(f"{cls.__name__}.execute must be async.", tool=cls.name)
        cls._parameters = tuple(
            _parameter(cls.name, *field) for field in cls.input_model.model_fields.items()
        )
        cls.input_schema = input_schema(cls._parameters, {})

    def validate(self, arguments: Mapping[str, Any]) -> BaseModel:
        """Arguments as a model sent them, as the `input_model`. Raises ToolValidationError."""
        meant: dict[str, Any] = {}
        validated(self.name, self._parameters, self.input_schema, arguments, meant=meant)
        try:
            return self.input_model.model_validate(
                meant
            )  # not what came out, or validators would run on it twice
        except ValidationError as error:  # what only all fields together can show
            told = error.errors(include_url=False, include_context=False)[0]
            message = told["msg"].removeprefix("Value error, ")
            raise ToolValidationError(f"arguments: {message}", tool=self.name, field="arguments") from None

    async def run(self, store: "Store", given: BaseModel) -> Any:
        """What `execute` returns; it must fit the `output_model`."""
        result = await self.execute(store, given)
        if self.output_model is None:
            return result
        try:
            return TypeAdapter(self.output_model).validate_python(result)
        except ValidationError as error:
            raise ToolExecutionError(
                f"{self.name} returned what does not fit its {self.output_model.__name__}.", tool=self.name
            ) from error


def _parameter(tool: str, name: str, field: FieldInfo) -> Parameter:
    default = inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
    return parameter(tool, field.alias or name, Annotated[field.annotation, field], default)
