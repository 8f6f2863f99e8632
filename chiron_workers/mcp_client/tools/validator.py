from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

STEPS_MAX = 200_000  # about a second at worst, in which no other run of the worker goes on


@dataclass(frozen=True, slots=True)
class Check:
    """A check of JSON against a schema that `checkable` made."""

    schema: dict[str, Any]
    _validator: "Validator"
    _parts: int

    @classmethod
    def of(cls, schema: dict[str, Any]) -> "Check":
        """The check against this schema."""
        from jsonschema import Draft202012Validator
        from referencing import Registry

        return cls(schema, Draft202012Validator(schema, registry=Registry()), _size(schema))

    def can_afford(self, value: object) -> bool:
        """Whether it takes no longer than the other runs can wait; what does is the server's to check."""
        return _size(value) * self._parts <= STEPS_MAX

    def errors(self, value: object) -> "Iterator[ValidationError]":
        """What is wrong with a value, as far as it can be checked."""
        return iter(self._validator.iter_errors(value)) if self.can_afford(value) else iter(())


def _size(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_size, inner))
