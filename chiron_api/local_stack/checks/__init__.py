"""The checks of `chiron doctor`: each module of this folder that has `checks` brings its own."""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass

from chiron_workers.settings import Settings


@dataclass(frozen=True, slots=True)
class Check:
    """What was found about one thing and, where that is a problem, how to correct it."""

    name: str
    found: str
    advice: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing needs to be done."""
        return not self.advice


def run_checks(settings: Settings) -> Iterator[Check]:
    """All checks in the modules' `ORDER`, each as soon as it is done, so that a slow one hides no earlier result."""
    # The modules import the libraries of all services, which no other command needs.
    modules = [
        importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)
    ]
    for module in sorted(modules, key=lambda module: int(module.ORDER)):
        yield from module.checks(settings)
