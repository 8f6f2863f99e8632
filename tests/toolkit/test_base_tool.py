from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, Field, model_validator

from chiron_workers.errors import ToolExecutionError, ToolRegistrationError, ToolValidationError
from chiron_workers.store import Store
from chiron_workers.toolkit import BaseTool, Registry

STORE: Any = object()


class Step(BaseModel):
    by: int = Field(1, ge=1, le=10, description="How far to count.")
    label: str | None = None

    @model_validator(mode="after")
    def _label_only_far(self) -> "Step":
        if self.label and self.by == 1:
            raise ValueError("a step of 1 has no label")
        return self


class Count(BaseModel):
    total: int


class Counter(BaseTool):
    name = "count_on"
    description = "Count on from where the last call stopped."
    input_model = Step
    output_model = Count

    def __init__(self, start: int = 0) -> None:
        self.total = start

    async def execute(self, store: Store, given: Step) -> Count:
        assert store is STORE
        self.total += given.by
        return Count(total=self.total)


async def test_a_tool_keeps_state_between_calls():
    registry = Registry()
    registry.register(Counter(start=40))
    await registry.execute("count_on", STORE, {})
    assert await registry.execute("count_on", STORE, {"by": "1"}) == {"total": 42}


def test_its_schema_is_that_of_its_input_model():
    assert Counter().definition() == {
        "name": "count_on",
        "description": "Count on from where the last call stopped.",
        "input_schema": {
            "type": "object",
            "properties": {
                "by": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 10,
                    "default": 1,
                    "description": "How far to count.",
                },
                "label": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            },
            "additionalProperties": False,
        },
    }


def test_a_wrong_argument_is_named_as_a_functions_is():
    with pytest.raises(ToolValidationError, match="by: must be a whole number from 1 to 10") as caught:
        Counter().validate({"by": 99})
    assert (caught.value.field, caught.value.tool) == ("by", "count_on")


def test_what_only_the_whole_input_can_show_is_said():
    with pytest.raises(ToolValidationError, match="a step of 1 has no label"):
        Counter().validate({"by": 1, "label": "x"})


async def test_a_result_that_does_not_fit_is_an_error_of_the_tool():
    class Liar(Counter):
        name = "lie"

        async def execute(self, store: Store, given: Step) -> Any:
            return {"total": "many"}

    registry = Registry()
    registry.register(Liar())
    with pytest.raises(ToolExecutionError, match="lie returned what does not fit its Count") as caught:
        await registry.execute("lie", STORE, {})
    assert caught.value.cause is not None


def test_a_class_that_cannot_be_described_is_refused_where_it_is_written():
    with pytest.raises(ToolRegistrationError, match="Nameless has no name"):

        class Nameless(BaseTool):
            description = "?"
            input_model = Step

            async def execute(self, store: Store, given: Step) -> None: ...

    with pytest.raises(ToolRegistrationError, match="must be async"):

        class Blocking(BaseTool):
            name = "block"
            description = "?"
            input_model = Step

            def execute(self, store: Store, given: Step) -> None: ...  # type: ignore[override]


def test_validators_see_an_argument_once():
    class Raised(BaseModel):
        level: Annotated[int, AfterValidator(lambda level: level + 1)]

    class Lift(Counter):
        name = "lift"
        input_model = Raised

    assert Lift().validate({"level": "1"}) == Raised.model_construct(level=2)
