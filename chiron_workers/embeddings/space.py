from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Space:
    """What makes vectors comparable: the same model, the same file or version, the same dimensions."""

    model: str
    hash: str
    dimensions: int
