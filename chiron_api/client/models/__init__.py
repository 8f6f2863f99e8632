"""The old address of `chiron_api.answers`, for programs written for an earlier version."""

import sys
import warnings
from importlib import import_module
from pkgutil import iter_modules

import chiron_api.answers

warnings.warn(
    "chiron_api.client.models is now chiron_api.answers: import from there.", DeprecationWarning, stacklevel=2
)
# The same modules, not copies of them: `match` and `isinstance` have to see the same classes.
for _module in iter_modules(chiron_api.answers.__path__):
    globals()[_module.name] = import_module(f"chiron_api.answers.{_module.name}")
    sys.modules[f"{__name__}.{_module.name}"] = globals()[_module.name]
