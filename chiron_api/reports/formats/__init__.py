"""The formats of reports: each module of this folder that has a `FORMAT` is one, and nothing else names it."""

import importlib
import pkgutil
from enum import StrEnum
from operator import attrgetter

from chiron_api.reports.write import Format

_MODULES = [importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in sorted(
        (module.FORMAT for module in _MODULES if hasattr(module, "FORMAT")), key=attrgetter("order")
    )
}


class FormatName(StrEnum):
    """The names of all formats."""

    vars().update({name.upper(): name for name in FORMATS})


class DocumentName(StrEnum):
    """The names of those that are one document."""

    vars().update({name.upper(): name for name, entry in FORMATS.items() if entry.render})
