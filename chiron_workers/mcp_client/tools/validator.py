from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chiron_workers.toolkit.arguments import has_values_at_most

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

STEPS_MAX = 30_000  # about 150 ms at worst, in which no other run of the worker goes on


@dataclass(frozen=True, slots=True)
class SchemaValidator:
    """Checks JSON against a schema that `without_patterns` made, where that is quick enough."""

    schema: dict[str, Any]
    _validator: "Validator"
    _size: int

    @classmethod
    def for_schema(cls, schema: dict[str, Any]) -> "SchemaValidator":
        """The validator of this schema."""
        from jsonschema import Draft202012Validator
        from referencing import Registry

        return cls(schema, Draft202012Validator(schema, registry=Registry()), _node_count(schema))

    def is_affordable(self, value: object) -> bool:
        """Whether checking takes no longer than other runs can wait; the server checks larger values itself."""
        return has_values_at_most(value, STEPS_MAX // self._size)

    def errors(self, value: object) -> "Iterator[ValidationError]":
        """What is wrong with a value; nothing where it cannot be checked in time."""
        return iter(self._validator.iter_errors(value)) if self.is_affordable(value) else iter(())


def _node_count(value: object) -> int:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_node_count, children))
