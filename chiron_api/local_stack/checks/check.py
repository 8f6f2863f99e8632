from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what was found and, where that is a problem, how to mend it."""

    name: str
    found: str
    advice: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing needs to be done."""
        return not self.advice
