import inspect
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from chiron_workers.errors import ToolExecutionError, ToolRegistrationError
from chiron_workers.toolkit.arguments import Arguments
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

            async def execute(self, store: Store, room: Room) -> Reading: ...

    Without an `output_model` anything that JSON can hold may be returned.

    Raises:
        ToolRegistrationError: At the class statement, where one of these is missing or cannot be described.
    """

    input_model: ClassVar[type[BaseModel]]
    output_model: ClassVar[type[BaseModel] | None] = None
    _arguments: ClassVar[Arguments]

    @abstractmethod
    async def execute(self, store: "Store", arguments: Any) -> Any:
        """What the tool does with arguments that fit its `input_model`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "execute" not in vars(cls) and getattr(cls.execute, "__isabstractmethod__", False):
            return  # a class for others to build on
        for attribute, kind in (("name", str), ("description", str), ("input_model", type)):
            if not isinstance(getattr(cls, attribute, None), kind):
                raise ToolRegistrationError(f"{cls.__name__} has no {attribute}.", tool=cls.__name__)
        require_name(cls.name)
        if not inspect.iscoroutinefunction(cls.execute):
            raise ToolRegistrationError(f"{cls.__name__}.execute must be async.", tool=cls.name)
        cls._arguments = Arguments(cls.name, cls.input_model)
        cls.input_schema = cls._arguments.schema

    def validate(self, arguments: Mapping[str, Any]) -> BaseModel:
        """Arguments as a model sent them, as the `input_model`. Raises ToolValidationError."""
        return self._arguments.validate(arguments)

    async def run(self, store: "Store", arguments: BaseModel) -> Any:
        """What `execute` returns; it must fit the `output_model`."""
        result = await self.execute(store, arguments)
        if self.output_model is None:
            return result
        try:
            return TypeAdapter(self.output_model).validate_python(result)
        except ValidationError as error:
            raise ToolExecutionError(
                f"{self.name} returned what does not fit its {self.output_model.__name__}.", tool=self.name
            ) from error
